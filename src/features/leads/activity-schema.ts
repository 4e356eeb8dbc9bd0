import {
  choice,
  freeObject,
  longText,
  maxNotesLength,
  reference,
  text,
  timestamp,
} from '../../kernel/fields.ts'
import { defineResource, type RecordOf } from '../../kernel/resource.ts'

export const activityTypes = [
  'created',
  'stage_change',
  'note',
  'assignment',
  'updated',
  'won',
  'lost',
] as const

const readOnly = { readOnly: true } as const
const always = { readOnly: true, always: true } as const

export const Activity = defineResource({
  name: 'activity entry',
  plural: 'activity',
  prefix: 'activity',
  table: 'lead_activity',
  description: 'What happened to a lead, who did it and when. Entries are never changed.',
  fields: {
    id: reference('activity', { ...always, example: 'activity_01k9x2x0a2c4e6g8j0m3p5r7t9' }),
    lead_id: reference('lead', { ...always, example: 'lead_01k9x2w9z1b3d5f7h9k2n4q6s8' }),
    type: choice(activityTypes, 'activity_type', { ...always, example: 'stage_change' }),
    description: longText({ ...always, example: 'Stage changed from new to contacted.' }),
    user: reference('agent', {
      ...readOnly,
      description: 'The agent who did it: for a key, whoever created the key.',
      example: 'agent_01k9x2t6w8y0a2c4e6g8j0m3p5',
    }),
    timestamp: timestamp({ ...always }),
    from: text({ ...readOnly, description: 'The stage or agent before.', example: 'new' }),
    to: text({ ...readOnly, description: 'The stage or agent after.', example: 'contacted' }),
    reason: longText({ ...readOnly, description: 'As it was given with the change.' }),
    notes: longText({ ...readOnly, description: 'As they were given with the change.' }),
    changes: freeObject({
      ...readOnly,
      description: 'Of an update: each changed field with its value `from` and `to`.',
    }),
  },
  sorts: { created_at: 'timestamp' },
})
export type Activity = RecordOf<typeof Activity>

/** Kinds of note that tell of an exchange with the lead. */
export const contactNoteTypes = ['call', 'call_summary', 'email', 'meeting', 'sms']

export const Note = defineResource({
  name: 'note',
  plural: 'notes',
  prefix: 'note',
  table: 'lead_notes',
  description: 'Something worth remembering of a lead.',
  fields: {
    id: reference('note', { ...always, example: 'note_01k9x2y1b3d5f7h9k2n4q6s8v0' }),
    lead_id: reference('lead', { ...always, example: 'lead_01k9x2w9z1b3d5f7h9k2n4q6s8' }),
    content: text(
      { required: true, example: 'Wants to see the corner unit again with her brother.' },
      maxNotesLength,
    ),
    type: text(
      {
        default: 'note',
        description: `Free text. ${contactNoteTypes.map((type) => `\`${type}\``).join(', ')} set \`last_contacted\` of the lead.`,
        example: 'call_summary',
      },
      50,
    ),
    user: reference('agent', {
      ...readOnly,
      description: 'The agent who wrote it.',
      example: 'agent_01k9x2t6w8y0a2c4e6g8j0m3p5',
    }),
    created_at: timestamp({ ...always }),
  },
  sorts: { created_at: 'created_at' },
})
export type Note = RecordOf<typeof Note>
