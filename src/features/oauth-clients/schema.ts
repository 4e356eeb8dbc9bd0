import { flag, listOf, reference, text, timestamp, url } from '../../kernel/fields.ts'
import { type CreateOf, defineResource, type RecordOf } from '../../kernel/resource.ts'
import { someScopes } from '../api-keys/schema.ts'

const uri = url({})

export const OAuthClient = defineResource({
  name: 'oauth_client',
  plural: 'oauth_clients',
  prefix: 'oac',
  table: 'oauth_clients',
  description: 'An application that people can allow to act for them.',
  fields: {
    id: reference('oac', { readOnly: true, always: true, example: 'oac_01k9x2s5v7x9z1b3d5f7h9k2n4' }),
    client_id: text({
      readOnly: true,
      always: true,
      derived: true,
      description: 'What the application calls itself: the same as `id`.',
      example: 'oac_01k9x2s5v7x9z1b3d5f7h9k2n4',
    }),
    name: text({
      required: true,
      description: 'People read it when they are asked.',
      example: 'Portal sync',
    }),
    redirect_uris: {
      ...listOf(uri, {
        required: true,
        description:
          'Where answers may be sent: compared character by character. https, or http on loopback.',
        example: ['https://portal.example.com/callback'],
      }),
      schema: { type: 'array', items: uri.schema, minItems: 1, maxItems: 20, uniqueItems: true },
    },
    scopes: someScopes,
    public: flag({
      default: false,
      description:
        'Whether it runs where a secret cannot be kept, such as in a browser. It must then use PKCE.',
      example: false,
    }),
    created_at: timestamp({ readOnly: true, always: true }),
  },
  sorts: { created_at: 'created_at', name: 'name' },
})

export type OAuthClient = RecordOf<typeof OAuthClient>
export type OAuthClientCreate = CreateOf<typeof OAuthClient>
