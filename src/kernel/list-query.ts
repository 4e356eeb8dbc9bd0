import { type Cursor, decodeCursor } from './cursor.ts'
import { invalidField } from './errors.ts'
import type { Filters } from './filters.ts'
import { integerParam, oneOfParam, type Param, type Params, textParam, WrongValue } from './query.ts'
import type { Resource } from './resource.ts'

/** What every list understands besides its filters: pages or cursors, sort, fields, expand. */

export const defaultPerPage = 20
export const maxPerPage = 100
// A cursor holds the sort value: a name of 200 characters is 1,200 bytes of JSON when each is written as an escape.
const maxCursorLength = 2_000
export const orders = ['asc', 'desc'] as const
export type Order = (typeof orders)[number]

export interface ListQuery {
  page: number
  perPage: number
  sort: string
  order: Order
  /** Undefined when the caller uses pages; null at the start of a cursor walk. */
  cursor: Cursor | null | undefined
  fields: string[] | undefined
  expand: string[]
  /** The filters given, by name, already parsed. */
  filters: Record<string, unknown>
}

/** What a list needs to know of a resource. */
export type Listable = Pick<Resource, 'name' | 'plural' | 'fields' | 'sorts' | 'column'> & {
  expands?: string[]
}

export function listParams(resource: Listable, filters: Filters): Params {
  return {
    ...Object.fromEntries(Object.entries(filters).map(([name, filter]) => [name, filter.param])),
    page: integerParam('Which page, from 1.', { min: 1, max: 1_000_000 }),
    per_page: integerParam(`Records on a page, ${defaultPerPage} unless given.`, { min: 1, max: maxPerPage }),
    cursor: textParam(
      'Walks lists of any depth at the same cost: start with an empty `cursor=`, then follow `links.next`. Takes the place of `page`.',
      maxCursorLength,
    ),
    sort: oneOfParam(Object.keys(resource.sorts), 'The field to sort by, `created_at` unless given.'),
    order: oneOfParam(
      orders,
      'Direction of the sort: `desc` unless given for dates and scores, `asc` for the rest.',
    ),
    ...viewParams(resource),
  }
}

/** The parameters that shape what is shown of a record, on lists and on single records alike. */
export function viewParams(resource: Pick<Listable, 'fields' | 'expands'>): Params {
  const relations = resource.expands ?? []
  return {
    fields: namesParam(
      Object.keys(resource.fields),
      'Return these top-level fields only, separated by commas; `id` always stays.',
    ),
    ...(relations.length > 0 && {
      expand: namesParam(relations, 'Add related records, separated by commas.'),
    }),
  }
}

function namesParam(known: string[], description: string): Param<string[]> {
  return {
    schema: { type: 'string' },
    description: `${description} Known: ${known.map((name) => `\`${name}\``).join(', ')}.`,
    parse: (text) => {
      const names = text.split(',').map((name) => name.trim())
      const unknown = names.filter((name) => !known.includes(name))
      if (unknown.length > 0)
        return new WrongValue(
          `does not know ${unknown.join(', ') || 'an empty name'}; known are ${known.join(', ')}.`,
        )
      return [...new Set(names)]
    },
  }
}

/** The list that a checked query asks for. */
export function readListQuery(
  resource: Listable,
  filters: Filters,
  parsed: Record<string, unknown>,
): ListQuery {
  const sort = (parsed.sort as string | undefined) ?? 'created_at'
  const order = (parsed.order as Order | undefined) ?? naturalOrder(sort)
  return {
    page: (parsed.page as number | undefined) ?? 1,
    perPage: (parsed.per_page as number | undefined) ?? defaultPerPage,
    sort,
    order,
    cursor: cursorOf(resource, sort, order, parsed),
    fields: parsed.fields as string[] | undefined,
    expand: (parsed.expand as string[] | undefined) ?? [],
    filters: Object.fromEntries(
      Object.keys(filters)
        .filter((name) => name in parsed)
        .map((name) => [name, parsed[name]]),
    ),
  }
}

const newestFirst = /(_at|_date|^score|^last_contacted|^last_active|^next_follow_up)$/
const naturalOrder = (sort: string): Order => (newestFirst.test(sort) ? 'desc' : 'asc')

function cursorOf(
  resource: Listable,
  sort: string,
  order: Order,
  parsed: Record<string, unknown>,
): Cursor | null | undefined {
  const text = parsed.cursor as string | undefined
  if (text === undefined) return undefined
  if (parsed.page !== undefined) throw invalidField('cursor', 'cannot be combined with page.')
  if (text === '') return null
  const cursor = decodeCursor(text, resource, sort, order)
  if (!cursor)
    throw invalidField('cursor', 'is not a cursor of this list; follow links.next as it was given.')
  return cursor
}
