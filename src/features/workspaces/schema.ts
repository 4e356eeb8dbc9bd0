import { environments, plans } from '../../kernel/context.ts'
import { choice, currency, flag, reference, text } from '../../kernel/fields.ts'
import { defineResource, type RecordOf, timestamps, type UpdateOf } from '../../kernel/resource.ts'

export const WorkspaceRecord = defineResource({
  name: 'workspace',
  plural: 'workspaces',
  prefix: 'ws',
  table: 'workspaces',
  description: 'The organisation that everything belongs to, and its plan.',
  fields: {
    id: reference('ws', { readOnly: true, always: true, example: 'ws_01k9x2s5v7x9z1b3d5f7h9k2n4' }),
    name: text({ required: true, example: 'Demo Realty' }),
    plan: choice(plans, 'plan', {
      readOnly: true,
      always: true,
      description: 'What was bought; changed by the operator.',
      example: 'enterprise',
    }),
    api_access: flag({
      default: true,
      description: 'Whether keys and applications may act here. People can always sign in.',
      example: true,
    }),
    environment: choice(environments, 'environment', { readOnly: true, always: true, example: 'production' }),
    production_id: reference('ws', {
      readOnly: true,
      description: 'Of a sandbox: the workspace it belongs to.',
    }),
    currency: currency({ required: true, description: 'Of amounts that name none.', example: 'EUR' }),
    ...timestamps,
  },
  sorts: { created_at: 'created_at' },
})

export type WorkspaceRecord = RecordOf<typeof WorkspaceRecord>
export type WorkspaceUpdate = UpdateOf<typeof WorkspaceRecord>
