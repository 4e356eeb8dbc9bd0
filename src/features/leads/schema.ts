import {
  choice,
  currency,
  email,
  group,
  integer,
  listOf,
  longText,
  money,
  reference,
  referenceTo,
  text,
  textOfForm,
  timestamp,
} from '../../kernel/fields.ts'
import {
  type CreateOf,
  defineResource,
  externalId,
  type RecordOf,
  timestamps,
  type UpdateOf,
} from '../../kernel/resource.ts'

export const leadSources = ['website', 'referral', 'portal', 'social', 'walk_in', 'api', 'manual'] as const
/** In the order of the pipeline, which is also how they sort. */
export const leadStages = ['new', 'contacted', 'qualified', 'viewing', 'negotiation', 'won', 'lost'] as const
export const lossReasons = [
  'price_too_high',
  'location_not_suitable',
  'bought_elsewhere',
  'no_longer_interested',
  'unresponsive',
  'financing_failed',
  'other',
] as const

export type LeadStage = (typeof leadStages)[number]
export type LossReason = (typeof lossReasons)[number]
export const activeStages = leadStages.filter((stage) => stage !== 'won' && stage !== 'lost')

export const Lead = defineResource({
  name: 'lead',
  plural: 'leads',
  prefix: 'lead',
  table: 'leads',
  description: 'Somebody who may buy, on the way from first contact to a deal or to none.',
  fields: {
    id: reference('lead', { readOnly: true, always: true, example: 'lead_01k9x2w9z1b3d5f7h9k2n4q6s8' }),
    name: text({ required: true, description: 'Their full name.', example: 'Amina Haddad' }),
    email: email({ required: true, example: 'amina.haddad@example.com' }),
    phone: text({ example: '+971 50 555 0182' }, 50),
    source: choice(leadSources, 'lead_source', {
      default: (workspace: { source?: string }) => workspace.source ?? 'api',
      description: 'Where they came from; `manual` unless given in the dashboard, `api` elsewhere.',
      example: 'website',
    }),
    stage: choice(leadStages, 'lead_stage', {
      default: 'new',
      updateOnly: true,
      description: 'Where they are on the way. Any stage may follow any; a new lead is always `new`.',
      example: 'new',
    }),
    score: integer(
      { min: 0, max: 100 },
      {
        readOnly: true,
        always: true,
        description: 'How promising they are, from 0 to 100, computed by the service.',
        example: 62,
      },
    ),
    assigned_agent: reference('agent', {
      description: 'The agent who looks after them; not an inactive one.',
      example: 'agent_01k9x2t6w8y0a2c4e6g8j0m3p5',
    }),
    interested_properties: listOf(referenceTo(['prop', 'unit'], {}), {
      default: [],
      description: 'Properties and units they asked about.',
      example: ['prop_01k9x2r4t6v8y0a1c3e5g7j9m1'],
    }),
    budget: group(
      {
        min: money({ example: 350000 }),
        max: money({ example: 500000 }),
        currency: currency({
          default: (workspace: { currency: string }) => workspace.currency,
          description: "ISO code; the workspace's own unless given.",
          example: 'USD',
        }),
      },
      { description: 'What they want to spend.' },
    ),
    timeline: textOfForm(
      '^([1-9][0-9]{0,2}_months|immediate)$',
      'must be immediate, or a number of months such as 3_months.',
      { description: 'When they want to buy: `immediate`, or a number of months.', example: '3_months' },
    ),
    notes: longText({ description: 'Free text about them.', example: 'Prefers a high floor.' }),
    tags: listOf(text({}, 100), { default: [], description: 'Labels of your own.', example: ['investor'] }),
    loss_reason: choice(lossReasons, 'loss_reason', {
      readOnly: true,
      description: 'Why they were lost; null in every other stage.',
    }),
    last_contacted: timestamp({
      description:
        'Set when they enter the stage contacted, and by notes of a call, e-mail, meeting or message.',
    }),
    next_follow_up: timestamp({ description: 'When to get in touch again.' }),
    external_id: externalId,
    ...timestamps,
  },
  sorts: {
    created_at: 'created_at',
    updated_at: 'updated_at',
    name: 'name',
    score: 'score',
    stage: 'stage',
    last_contacted: 'last_contacted',
    next_follow_up: 'next_follow_up',
  },
  rules: [
    ({ budget }) =>
      budget?.min != null && budget.max != null && budget.min > budget.max
        ? { field: 'budget.min', message: 'must not be more than budget.max.' }
        : undefined,
  ],
  renamed: { status: 'was renamed stage.' },
  expands: ['agent', 'properties'],
  alsoShown: ['activity'],
})

export type Lead = RecordOf<typeof Lead>
export type LeadCreate = CreateOf<typeof Lead>
export type LeadUpdate = UpdateOf<typeof Lead>
