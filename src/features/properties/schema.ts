import {
  choice,
  currency,
  date,
  group,
  integer,
  listOf,
  longText,
  money,
  number,
  reference,
  text,
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

export const propertyTypes = [
  'villa',
  'apartment',
  'townhouse',
  'penthouse',
  'commercial',
  'land',
  'mixed_use',
] as const
export const propertyStatuses = [
  'planning',
  'under_construction',
  'completed',
  'sold_out',
  'archived',
] as const

const anyCount = { min: 0, max: 2_147_483_647 }

export const Property = defineResource({
  name: 'property',
  plural: 'properties',
  prefix: 'prop',
  table: 'properties',
  description: 'A project: a building, a compound or a piece of land whose units are for sale.',
  fields: {
    id: reference('prop', { readOnly: true, always: true, example: 'prop_01k9x2r4t6v8y0a1c3e5g7j9m1' }),
    name: text({ required: true, description: 'The name buyers know it by.', example: 'Marina Heights' }),
    type: choice(propertyTypes, 'property_type', {
      required: true,
      description: 'What kind of project it is.',
      example: 'apartment',
    }),
    status: choice(propertyStatuses, 'property_status', {
      default: 'planning',
      description: 'How far the project is.',
      example: 'under_construction',
    }),
    location: group(
      {
        address: text({ description: 'Street and number.', example: '12 Harbour Road' }),
        area: text({ description: 'The district or community.', example: 'Marina' }),
        city: text({ required: true, example: 'Dubai' }),
        country: text({ required: true, example: 'AE' }),
        coordinates: group(
          {
            lat: number({ min: -90, max: 90 }, { required: true, example: 25.0805 }),
            lng: number({ min: -180, max: 180 }, { required: true, example: 55.1403 }),
          },
          { description: 'Degrees of latitude and longitude; sent together.' },
        ),
      },
      { required: true, description: 'Where it stands.' },
    ),
    description: longText({
      description: 'Text for buyers.',
      example: 'Two towers on the waterfront, ten minutes from the old port.',
    }),
    media: group(
      {
        cover: url({ example: 'https://cdn.example.com/marina/cover.jpg' }),
        gallery: listOf(url({}), { example: ['https://cdn.example.com/marina/1.jpg'] }),
        floor_plans: listOf(url({}), { example: ['https://cdn.example.com/marina/plan-a.pdf'] }),
        virtual_tour: url({ example: 'https://tours.example.com/marina' }),
      },
      { description: 'Pictures, plans and a tour, as absolute URLs.' },
    ),
    pricing: group(
      {
        currency: currency({
          default: (workspace: { currency: string }) => workspace.currency,
          description: "ISO code; the workspace's own unless given.",
          example: 'USD',
        }),
        min_price: money({ description: 'The least a unit costs.', example: 250000 }),
        max_price: money({ description: 'The most a unit costs.', example: 1200000 }),
      },
      { description: 'The range of asking prices.' },
    ),
    features: listOf(text({}), {
      default: [],
      description: 'Tags such as pool or gym.',
      example: ['pool', 'gym'],
    }),
    units_count: integer(anyCount, {
      readOnly: true,
      always: true,
      derived: true,
      description: 'Units of the property that the caller may see.',
      example: 48,
    }),
    units_available: integer(anyCount, {
      readOnly: true,
      always: true,
      derived: true,
      description: 'Those of them that are available.',
      example: 31,
    }),
    completion_date: date({ description: 'When it is, or was, finished.', example: '2027-06-30' }),
    external_id: externalId,
    ...timestamps,
  },
  sorts: {
    created_at: 'created_at',
    updated_at: 'updated_at',
    name: 'name',
    status: 'status',
    type: 'type',
    min_price: 'pricing.min_price',
    completion_date: 'completion_date',
  },
  rules: [
    ({ pricing }) =>
      pricing?.min_price != null && pricing.max_price != null && pricing.min_price > pricing.max_price
        ? { field: 'pricing.min_price', message: 'must not be more than pricing.max_price.' }
        : undefined,
  ],
})

export type Property = RecordOf<typeof Property>
export type PropertyCreate = CreateOf<typeof Property>
export type PropertyUpdate = UpdateOf<typeof Property>
