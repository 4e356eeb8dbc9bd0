import { environments } from '../../kernel/context.ts'
import { choice, flag, listOf, reference, text, timestamp } from '../../kernel/fields.ts'
import { type CreateOf, defineResource, type RecordOf } from '../../kernel/resource.ts'
import { scopes } from '../../kernel/scopes.ts'

const scope = choice(scopes, 'text', {})

/** At least one, each once. */
export const someScopes = {
  ...listOf(scope, {
    required: true,
    description: 'What it may do.',
    example: ['read:leads', 'write:leads'],
  }),
  schema: { type: 'array', items: scope.schema, minItems: 1, maxItems: scopes.length, uniqueItems: true },
}

export const ApiKey = defineResource({
  name: 'api_key',
  plural: 'api_keys',
  prefix: 'key',
  table: 'api_keys',
  description: 'Lets a program act in the workspace, within its scopes, until it is revoked.',
  fields: {
    id: reference('key', { readOnly: true, always: true, example: 'key_01k9x2s5v7x9z1b3d5f7h9k2n4' }),
    name: text({ required: true, description: 'What it is for.', example: 'Website form' }),
    scopes: someScopes,
    last_four: text({
      readOnly: true,
      always: true,
      description: 'The end of the key, to tell keys apart.',
      example: 'x7Qa',
    }),
    environment: choice(environments, 'environment', {
      always: true,
      derived: true,
      description:
        'Where it works. On the production host a test key for the sandbox can be made by sending `sandbox`.',
      example: 'production',
    }),
    created_by: reference('agent', {
      readOnly: true,
      description: 'Who made it.',
      example: 'agent_01k9x2t6w8y0a2c4e6g8j0m3p5',
    }),
    needs_review: flag({
      readOnly: true,
      always: true,
      derived: true,
      description: 'Whether whoever made it has been deactivated since. The key itself still works.',
      example: false,
    }),
    created_at: timestamp({ readOnly: true, always: true }),
    last_used_at: timestamp({ readOnly: true, description: 'Up to a minute late.' }),
    expires_at: timestamp({ description: 'When it ends by itself; never unless given.' }),
    revoked_at: timestamp({ readOnly: true }),
  },
  sorts: { created_at: 'created_at', name: 'name' },
})

export type ApiKey = RecordOf<typeof ApiKey>
export type ApiKeyCreate = CreateOf<typeof ApiKey>
