import { choice, currency, group, listOf, measure, money, reference, text, url } from '../../kernel/fields.ts'
import {
  type CreateOf,
  defineResource,
  externalId,
  type RecordOf,
  timestamps,
  type UpdateOf,
} from '../../kernel/resource.ts'
import { unitVisibilities } from '../visibility/units.ts'

export const unitStatuses = ['available', 'reserved', 'sold', 'off_market', 'rented'] as const

export const Unit = defineResource({
  name: 'unit',
  plural: 'units',
  prefix: 'unit',
  table: 'units',
  description: 'Something that can be sold on its own: an apartment, a villa, a plot, a shop.',
  fields: {
    id: reference('unit', { readOnly: true, always: true, example: 'unit_01k9x2s5v7x9z1b3d5f7h9k2n4' }),
    property_id: reference('prop', {
      required: true,
      description: 'The property it belongs to.',
      example: 'prop_01k9x2r4t6v8y0a1c3e5g7j9m1',
    }),
    name: text({
      required: true,
      description: 'What people call it.',
      example: 'Tower A, 12th floor, corner',
    }),
    unit_number: text({ description: 'Its code in the project.', example: 'A-1204' }),
    type: text({ description: 'Free text, usually bedrooms and kind.', example: '2BR Apartment' }),
    status: choice(unitStatuses, 'unit_status', {
      default: 'available',
      description: 'Whether it can be bought.',
      example: 'available',
    }),
    bedrooms: measure(100, { example: 2 }),
    bathrooms: measure(100, { example: 2.5 }),
    size: group(
      {
        interior: measure(1_000_000_000, { description: 'Built area.', example: 96.5 }),
        land: measure(1_000_000_000, { description: 'Plot area.' }),
        unit: text({ default: 'sqm', description: 'The unit of both.', example: 'sqm' }, 20),
      },
      { description: 'How large it is.' },
    ),
    price: group(
      {
        amount: money({ required: true, description: 'With at most two decimals.', example: 420000 }),
        currency: currency({
          default: (workspace: { currency: string }) => workspace.currency,
          description: "ISO code; the workspace's own unless given.",
          example: 'USD',
        }),
      },
      { required: true, description: 'The asking price.' },
    ),
    features: listOf(text({}), {
      default: [],
      description: 'Tags such as balcony or sea view.',
      example: ['balcony', 'sea_view'],
    }),
    floor_plan: url({ description: 'Its plan.', example: 'https://cdn.example.com/marina/a-1204.pdf' }),
    gallery: listOf(url({}), {
      default: [],
      description: 'Its pictures.',
      example: ['https://cdn.example.com/marina/a-1204/1.jpg'],
    }),
    visibility: choice(unitVisibilities, 'unit_visibility', {
      default: 'agents',
      description: 'Who sees it: everybody, all agents, the team of its agent, or admins only.',
      example: 'agents',
    }),
    assigned_agent: reference('agent', {
      description: 'The agent who sells it.',
      example: 'agent_01k9x2t6w8y0a2c4e6g8j0m3p5',
    }),
    external_id: externalId,
    ...timestamps,
  },
  sorts: {
    created_at: 'created_at',
    updated_at: 'updated_at',
    name: 'name',
    unit_number: 'unit_number',
    price: 'price.amount',
    bedrooms: 'bedrooms',
    size: 'size.interior',
    status: 'status',
  },
  expands: ['property', 'agent'],
})

export type Unit = RecordOf<typeof Unit>
export type UnitCreate = CreateOf<typeof Unit>
export type UnitUpdate = UpdateOf<typeof Unit>
