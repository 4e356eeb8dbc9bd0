import { choice, flag, integer, listOf, reference, text, timestamp } from '../../kernel/fields.ts'
import { defineResource, type RecordOf } from '../../kernel/resource.ts'

export const importResources = ['properties', 'units', 'leads', 'agents', 'teams', 'deals'] as const
export const importFormats = ['csv', 'xml'] as const
export const importStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled', 'reverted'] as const
export const duplicateRules = ['create', 'skip', 'update'] as const

export type DuplicateRule = (typeof duplicateRules)[number]

const anyCount = { min: 0, max: 2_147_483_647 }
const set = { readOnly: true, always: true } as const
const count = (description: string) => integer(anyCount, { ...set, description, example: 0 })

export const Import = defineResource({
  name: 'import',
  plural: 'imports',
  prefix: 'imp',
  table: 'imports',
  description: 'Records that come in as a file, worked off in the background.',
  fields: {
    id: reference('imp', { ...set, example: 'imp_01k9x3a0b2d4f6h8k0n2q4s6v8' }),
    resource: choice(importResources, 'import_resource', { ...set, example: 'leads' }),
    format: choice(importFormats, 'import_format', { ...set, example: 'csv' }),
    status: choice(importStatuses, 'import_status', {
      ...set,
      description: '`queued` and `running` go on by themselves; the others are final.',
      example: 'completed',
    }),
    dry_run: flag({ ...set, description: 'Whether it only reports what it would do.', example: false }),
    on_duplicate: choice(duplicateRules, 'duplicate_rule', { ...set, example: 'create' }),
    total: integer(anyCount, {
      readOnly: true,
      description: 'Rows of the file; null until they are known.',
      example: 250,
    }),
    processed: integer(anyCount, { ...set, description: 'Rows that are done with.', example: 250 }),
    created: integer(anyCount, { ...set, description: 'Records made.', example: 247 }),
    updated: count('Records changed.'),
    skipped: count('Rows that name a record which is there already, or change nothing of it.'),
    failed: integer(anyCount, { ...set, description: 'Rows refused: see the errors.', example: 3 }),
    columns: listOf(
      text({}),
      { ...set, default: [], description: 'As the file names them.', example: ['Full name', 'E-mail'] },
      1_000,
    ),
    ignored_columns: listOf(
      text({}),
      { ...set, default: [], description: 'Those that mean no field that can be set.', example: [] },
      1_000,
    ),
    failure: text({ readOnly: true, description: 'Why it ended early, where it did.' }, 1_000),
    created_at: timestamp({ ...set, description: 'When the file was sent.' }),
    finished_at: timestamp({ readOnly: true, description: 'When nothing was left to do.' }),
  },
  sorts: { created_at: 'created_at' },
})

export type Import = RecordOf<typeof Import>

/** What is wrong with one cell, or with a row as a whole where `column` is null. */
export interface RowProblem {
  column: string | null
  message: string
}
