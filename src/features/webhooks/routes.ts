import { inWorkspace } from '../../kernel/context.ts'
import { bodyOf, created, type Endpoint, endpoint, noContent, ok, pageOf } from '../../kernel/endpoint.ts'
import { listParams, readListQuery, viewParams } from '../../kernel/list-query.ts'
import { bodySchema } from '../../kernel/resource-schema.ts'
import { dataOf, listOfData, shapedBy } from '../../kernel/schemas.ts'
import { secret, Webhook, type WebhookUpdate } from './schema.ts'
import {
  createWebhook,
  getWebhook,
  listWebhooks,
  removeWebhook,
  rotateSecret,
  updateWebhook,
} from './service.ts'

export const path = '/v1/webhooks'
export const tag = 'Webhooks'
export const scopes = ['webhooks'] as const
const missing = { NOT_FOUND: 'There is no such webhook.' }

const secretSchema = { type: 'string', examples: [secret.marks.example], description: 'Shown only here.' }
const withSecret = {
  ...Webhook.schema.read,
  properties: { ...(Webhook.schema.read.properties as object), secret: secretSchema },
  required: [...(Webhook.schema.read.required as string[]), 'secret'],
}
const fields = { ...Webhook.fields, secret }

export const webhookRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listWebhooks',
    tag,
    summary: 'List webhooks',
    scopes,
    query: listParams(Webhook, {}),
    success: {
      status: 200,
      description: 'A page of webhooks, without their secrets.',
      schema: listOfData(shapedBy(Webhook.schema.read)),
    },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(Webhook, {}, query)
      return pageOf(await inWorkspace(ctx, (tx) => listWebhooks(tx, list)), url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getWebhook',
    tag,
    summary: 'Read a webhook',
    scopes,
    query: viewParams(Webhook),
    success: { status: 200, description: 'The webhook.', schema: dataOf(shapedBy(Webhook.schema.read)) },
    errors: missing,
    handle: async ({ ctx, params }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => getWebhook(tx, params.id!))
      return ok(record, version)
    },
  }),
  endpoint({
    method: 'POST',
    path,
    operationId: 'createWebhook',
    tag,
    summary: 'Create a webhook',
    description: 'The secret that signatures are made with is in this answer and never shown again.',
    scopes,
    body: { ...bodyOf(fields), prepare: (body) => Webhook.withoutReadOnly(body, 'create') },
    success: { status: 201, description: 'The new webhook, with its secret.', schema: dataOf(withSecret) },
    handle: async ({ ctx, body }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => createWebhook(tx, body))
      return created(record, path, version)
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:id`,
    operationId: 'updateWebhook',
    tag,
    summary: 'Change a webhook',
    description:
      'Changes the fields sent and leaves the rest. Turned off, it gets nothing more and what waits is stopped; turned on again, `disabled_reason` and `disabled_at` are cleared.',
    scopes,
    body: {
      schema: bodySchema(fields, 'update'),
      example: { events: ['*'], active: true },
      prepare: (body) => Webhook.withoutReadOnly(body, 'update'),
    },
    success: { status: 200, description: 'The webhook as it is now.', schema: dataOf(Webhook.schema.read) },
    errors: { ...missing, PRECONDITION_FAILED: 'It has changed since the ETag in If-Match.' },
    handle: async ({ ctx, params, body, headers }) => {
      const patch = body as unknown as WebhookUpdate
      const change = await inWorkspace(ctx, (tx) => updateWebhook(tx, params.id!, patch, headers['if-match']))
      return ok(change.record, change.version)
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:id`,
    operationId: 'deleteWebhook',
    tag,
    summary: 'Delete a webhook and the record of its deliveries',
    description: 'Cannot be undone.',
    scopes,
    success: { status: 204, description: 'It is gone.' },
    errors: missing,
    handle: async ({ ctx, params }) => {
      await inWorkspace(ctx, (tx) => removeWebhook(tx, params.id!))
      return noContent()
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:id/rotate-secret`,
    operationId: 'rotateWebhookSecret',
    tag,
    summary: 'Replace the secret of a webhook',
    description:
      'For 24 hours the old secret signs as well, so that a receiver can be changed without losing anything.',
    scopes,
    success: {
      status: 200,
      description: 'The new secret.',
      schema: dataOf({
        type: 'object',
        properties: {
          id: { type: 'string', examples: [Webhook.example.id] },
          secret: secretSchema,
          previous_secret_expires_at: { type: 'string', format: 'date-time' },
        },
        required: ['id', 'secret', 'previous_secret_expires_at'],
      }),
    },
    errors: missing,
    handle: async ({ ctx, params }) => ok(await inWorkspace(ctx, (tx) => rotateSecret(tx, params.id!))),
  }),
]
