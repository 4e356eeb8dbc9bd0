import { integer, reference, text } from '../../kernel/fields.ts'
import {
  type CreateOf,
  defineResource,
  type RecordOf,
  timestamps,
  type UpdateOf,
} from '../../kernel/resource.ts'

export const Team = defineResource({
  name: 'team',
  plural: 'teams',
  prefix: 'team',
  table: 'teams',
  description:
    'Agents who work together. Units with the visibility `team` are seen by the team of their agent.',
  fields: {
    id: reference('team', { readOnly: true, always: true, example: 'team_01k9x2v8y0a2c4e6g8j0m3p5r7' }),
    name: text({ required: true, description: 'What people call it.', example: 'Waterfront' }),
    agents_count: integer(
      { min: 0, max: 2_147_483_647 },
      {
        readOnly: true,
        always: true,
        derived: true,
        description: 'Its agents, without those who are inactive.',
        example: 4,
      },
    ),
    ...timestamps,
  },
  sorts: { created_at: 'created_at', updated_at: 'updated_at', name: 'name' },
})

export type Team = RecordOf<typeof Team>
export type TeamCreate = CreateOf<typeof Team>
export type TeamUpdate = UpdateOf<typeof Team>
