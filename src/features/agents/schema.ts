import {
  choice,
  email,
  group,
  integer,
  listOf,
  longText,
  money,
  number,
  reference,
  text,
  timestamp,
  url,
} from '../../kernel/fields.ts'
import {
  type CreateOf,
  defineResource,
  externalId,
  type RecordOf,
  timestamps,
  type UpdateOf,
} from '../../kernel/resource.ts'
import { roles } from '../../kernel/scopes.ts'

export const agentStatuses = ['invited', 'active', 'inactive'] as const

const figure = { readOnly: true, derived: true } as const
const anyCount = { min: 0, max: 2_147_483_647 }

export const Agent = defineResource({
  name: 'agent',
  plural: 'agents',
  prefix: 'agent',
  table: 'agents',
  description: 'A member of the workspace: whoever sells, manages, or only looks on.',
  fields: {
    id: reference('agent', { readOnly: true, always: true, example: 'agent_01k9x2t6w8y0a2c4e6g8j0m3p5' }),
    email: email({
      required: true,
      description: 'Where the invitation goes; unique in the workspace.',
      example: 'sara.almeida@example.com',
    }),
    name: text({ required: true, example: 'Sara Almeida' }),
    role: choice(roles, 'agent_role', {
      default: 'agent',
      description: 'What they may do: everything (owner, admin), sell (agent), look on (viewer).',
      example: 'agent',
    }),
    status: choice(agentStatuses, 'agent_status', {
      default: 'invited',
      updateOnly: true,
      description:
        'Always `invited` at first. A PUT with `active` brings an inactive agent back; POST …/deactivate makes them `inactive`.',
      example: 'active',
    }),
    profile: group(
      {
        phone: text({ example: '+351 21 555 0134' }, 50),
        photo: url({ example: 'https://cdn.example.com/people/sara.jpg' }),
        bio: longText({ example: 'Fifteen years on the waterfront.' }),
        languages: listOf(text({}, 35), { description: 'Language codes.', example: ['pt', 'en'] }),
        license_number: text({ example: 'AMI-20417' }),
      },
      { description: 'What buyers may know of them.' },
    ),
    team_id: reference('team', {
      description: 'The team they belong to.',
      example: 'team_01k9x2v8y0a2c4e6g8j0m3p5r7',
    }),
    commission: group(
      {
        tier: text({ description: 'The name of their terms.', example: 'senior' }, 50),
        rate: number({ min: 0, max: 1 }, { description: 'A fraction: 0.03 is 3 percent.', example: 0.03 }),
      },
      { description: 'What they earn of a deal, unless the deal says otherwise.' },
    ),
    stats: group(
      {
        active_leads: integer(anyCount, { ...figure, description: 'Neither won nor lost.', example: 12 }),
        deals_closed: integer(anyCount, { ...figure, example: 3 }),
        total_revenue: money({
          ...figure,
          description:
            "The value of their closed deals in the workspace's currency, or in the one they sold most in.",
          example: 1260000,
        }),
      },
      { readOnly: true, description: 'On lists, and with `include_stats`; null elsewhere.' },
    ),
    last_active: timestamp({ readOnly: true, description: 'When they were last seen.' }),
    invitation_sent_at: timestamp({ readOnly: true, description: 'When they were last invited.' }),
    external_id: externalId,
    ...timestamps,
  },
  sorts: { created_at: 'created_at', name: 'name', email: 'email', last_active: 'last_active' },
  expands: ['team', 'leads'],
  alsoShown: ['leads_reassigned'],
})

export type Agent = RecordOf<typeof Agent>
export type AgentCreate = CreateOf<typeof Agent>
export type AgentUpdate = UpdateOf<typeof Agent>
