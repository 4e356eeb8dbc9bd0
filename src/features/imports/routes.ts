import { inTransaction, inWorkspace } from '../../kernel/context.ts'
import { csvLine } from '../../kernel/csv.ts'
import { type Endpoint, endpoint, ok, pageOf } from '../../kernel/endpoint.ts'
import { defaultPerPage, listParams, maxPerPage, readListQuery, viewParams } from '../../kernel/list-query.ts'
import { integerParam, oneOfParam } from '../../kernel/query.ts'
import { dataOf, listOfData } from '../../kernel/schemas.ts'
import { requireKept } from './expire.ts'
import { importFilters, listErrors } from './queries.ts'
import { rejectFile } from './reject-file.ts'
import { revertImport } from './revert.ts'
import { Import } from './schema.ts'
import { cancelImport, getImport, importsFor } from './service.ts'

const path = '/v1/imports'
const tag = 'Imports'
const one = dataOf(Import.schema.read)
const noSuchImport = 'There is no such import.'
const sight = 'Needs the write scope of what was imported, such as `write:leads`.'

const errorSchema = {
  title: 'import error',
  type: 'object',
  properties: {
    row: { type: 'integer', description: 'Which record of the file, from 1.', examples: [17] },
    line: { type: 'integer', description: 'The line it begins in, from 1.', examples: [18] },
    column: {
      type: ['string', 'null'],
      description: 'As the file names it; null for the row as a whole.',
      examples: ['E-mail'],
    },
    message: { type: 'string', examples: ['must be an e-mail address.'] },
  },
  required: ['row', 'line', 'column', 'message'],
}

export const importRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    operationId: 'listImports',
    tag,
    summary: 'List imports',
    description: `Imports of what the caller may write. ${sight}`,
    scopes: 'any',
    query: listParams(Import, importFilters),
    success: { status: 200, description: 'A page of imports.', schema: listOfData(Import.schema.read) },
    handle: async ({ ctx, query, url }) => {
      const list = readListQuery(Import, importFilters, query)
      return pageOf(await inWorkspace(ctx, (tx) => importsFor(tx, list)), url)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getImport',
    tag,
    summary: 'Read an import',
    description: `Its status and how far it has come. ${sight}`,
    scopes: 'any',
    query: viewParams(Import),
    success: { status: 200, description: 'The import.', schema: one },
    errors: { NOT_FOUND: noSuchImport },
    handle: async ({ ctx, params }) => {
      const { record, version } = await inWorkspace(ctx, (tx) => getImport(tx, params.id!))
      return ok(record, version)
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:id/errors`,
    operationId: 'listImportErrors',
    tag,
    summary: 'List the errors of an import',
    description: `What is wrong with each refused row: line, column and reason. As CSV, the refused rows themselves, to be mended and sent again. Kept for 30 days. ${sight}`,
    scopes: 'any',
    query: {
      page: integerParam('Which page, from 1.', { min: 1, max: 1_000_000 }),
      per_page: integerParam(`Errors on a page, ${defaultPerPage} unless given.`, {
        min: 1,
        max: maxPerPage,
      }),
      format: oneOfParam(
        ['json', 'csv'],
        'As a list, or as a file of the refused rows. `Accept: text/csv` asks for the file too.',
      ),
    },
    success: {
      status: 200,
      description: 'A page of errors, or the refused rows.',
      schema: listOfData(errorSchema),
      files: {
        'text/csv': {
          description:
            'The rows as they were sent, with `import_rest` (cells beyond the header, between `|`), `import_line` and `import_error` at the end.',
          example:
            csvLine(['name', 'email', 'import_rest', 'import_line', 'import_error']) +
            csvLine(['Amina Haddad', 'amina@', '', '18', 'email must be an e-mail address.']),
        },
      },
    },
    errors: { NOT_FOUND: noSuchImport, CONFLICT: 'It has refused rows, which are no longer kept.' },
    handle: ({ ctx, params, query, url, headers }) =>
      inWorkspace(ctx, async (tx) => {
        const { record } = await getImport(tx, params.id!)
        if (record.failed > 0) requireKept(tx, record, 'What was refused')
        const wantsFile = query.format ? query.format === 'csv' : /^text\/csv\b/.test(headers.accept ?? '')
        if (wantsFile) {
          const file = {
            type: 'text/csv; charset=utf-8; header=present',
            name: `${record.resource}-errors.csv`,
          }
          return { status: 200, file: { ...file, open: async () => rejectFile(tx, record) } }
        }
        const list = { ...readListQuery(Import, {}, query), cursor: undefined }
        const page = await listErrors(tx, record.id, list)
        return pageOf({ ...page, query: list, nextCursor: undefined }, url)
      }),
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:id/cancel`,
    operationId: 'cancelImport',
    tag,
    summary: 'Cancel an import',
    description: `Stops it before its next rows. What it has written stays. ${sight}`,
    scopes: 'any',
    success: { status: 200, description: 'The import, cancelled.', schema: one },
    errors: { NOT_FOUND: noSuchImport, CONFLICT: 'It has finished.' },
    handle: async ({ ctx, params }) => {
      const { record, version } = await inTransaction(ctx, (tx) => cancelImport(tx, params.id!))
      return ok(record, version)
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:id/revert`,
    operationId: 'revertImport',
    tag,
    summary: 'Take an import back',
    description: `Deletes the records it made and restores those it changed, all of them or none: refused when one has been changed or used since. Within 30 days. ${sight}`,
    scopes: 'any',
    success: { status: 200, description: 'The import, reverted.', schema: one },
    errors: {
      NOT_FOUND: noSuchImport,
      CONFLICT: 'It is running, its records have been touched since, or 30 days have passed.',
    },
    handle: async ({ ctx, params }) => {
      const reverted = await inTransaction(ctx, (tx) => revertImport(tx, params.id!, ctx.urls))
      return ok(reverted.record, reverted.version)
    },
  }),
]
