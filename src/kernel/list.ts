import type { Tx } from './context.ts'
import { afterCursor, type Cursor, encodeCursor, isNullable, sortLeaf, sortValue } from './cursor.ts'
import type { Filters } from './filters.ts'
import type { Listable, ListQuery } from './list-query.ts'
import { allOf, type Fragment, nothing, raw } from './sql.ts'

/** One page of records, with what the envelope needs for `meta` and `links`. */
export interface Page<R> {
  records: R[]
  total: number
  query: ListQuery
  /** Set on a cursor walk while more follows. */
  nextCursor: string | undefined
}

export interface ListSource<R> {
  resource: Listable & { table: string }
  filters: Filters
  /** What is selected of each row; the table is the resource's own. */
  select: Fragment
  /** Conditions that always hold, such as what the caller may see. */
  where?: Fragment[]
  /** Other workspaces of the same organisation to read along: a production workspace's own sandbox. */
  alsoIn?: string[]
  /** Names those conditions in the cache of totals; two callers who see different rows must differ here. */
  seenBy?: string
  fromRow(row: Record<string, unknown>): R
}

/** Reads a page and the total in one statement. */
export async function listPage<R extends object>(
  tx: Tx,
  source: ListSource<R>,
  query: ListQuery,
): Promise<Page<R>> {
  const { sql, totals } = tx
  const { resource } = source
  const table = raw(sql, resource.table)
  const conditions = conditionsOf(tx, source, query)
  const key = JSON.stringify([tx.workspaceId, resource.table, source.seenBy, query.filters])
  const count = () => sql`select count(*)::int as total from ${table} where ${conditions}`
  const known = totals.known(key, tx.now, async () => (await count())[0]!.total)

  const walking = query.cursor !== undefined
  const page = sql`
    ${query.cursor ? sql`and ${beyond(tx, resource, query, query.cursor)}` : nothing(sql)}
    order by ${raw(sql, orderOf(resource, query))}
    limit ${walking ? query.perPage + 1 : query.perPage}
    ${walking ? nothing(sql) : sql`offset ${(query.page - 1) * query.perPage}`}`
  const walk = (total: Fragment) => sql`
    select ${source.select} ${total} from ${table} where ${conditions} ${page}`

  const capped = sql`select from ${table} where ${conditions} limit ${totals.cap + 1}`
  const countedAlong = sql`, (select count(*)::int from (${capped}) capped) as list_total`
  const gathers = Object.keys(query.filters).some((name) => source.filters[name]!.gathers)
  const first =
    known !== undefined
      ? walk(nothing(sql))
      : gathers
        ? gathered(tx, source, conditions, page)
        : walk(countedAlong)
  let rows: readonly Row[] = await first
  const counted = known ?? rows[0]?.list_total ?? (await emptyPageTotal(query, count))
  const total = known ?? (await totals.exact(key, tx.now, counted, count))
  if (known === undefined && gathers && total > totals.cap) rows = await walk(nothing(sql))

  const more = walking && rows.length > query.perPage
  const records = (more ? rows.slice(0, query.perPage) : rows).map(source.fromRow)
  return {
    records,
    total,
    query,
    nextCursor: more ? cursorAfter(resource, query, records.at(-1)!) : undefined,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: rows as the driver gives them
type Row = Record<string, any>

/*
 * For conditions whose index finds rows out of order, such as a search. Left alone, PostgreSQL guesses
 * how many match, and at a wrong guess reads a million rows in order to find one. So the matches are
 * gathered first, up to the cap of totals, and sorted. Where there are more they are common, and
 * reading in order finds a page of them soon.
 */
function gathered<R>({ sql, totals }: Tx, source: ListSource<R>, conditions: Fragment, page: Fragment) {
  const table = raw(sql, source.resource.table)
  return sql`
    with matches as materialized (select * from ${table} where ${conditions} limit ${totals.cap + 1})
    select ${source.select}, (select count(*)::int from matches) as list_total
    from matches as ${table} where true ${page}`
}

// Without a row there is no place for the total to stand in. On page 1 that means there is none.
async function emptyPageTotal(
  query: ListQuery,
  count: () => PromiseLike<Record<string, number>[]>,
): Promise<number> {
  if (query.page === 1 && !query.cursor) return 0
  return (await count())[0]!.total!
}

/** The rows that a query asks for and the caller may see. */
export const conditionsOf = (
  { sql, workspaceId }: Tx,
  source: Pick<ListSource<unknown>, 'resource' | 'where' | 'filters' | 'alsoIn'>,
  query: ListQuery,
): Fragment =>
  allOf(sql, [
    source.alsoIn
      ? sql`${raw(sql, `${source.resource.table}.workspace_id =`)} any(${[workspaceId, ...source.alsoIn]})`
      : sql`${raw(sql, `${source.resource.table}.workspace_id =`)} ${workspaceId}`,
    ...(source.where ?? []),
    ...Object.entries(query.filters).map(([name, value]) =>
      source.filters[name]!.where(sql, value, workspaceId),
    ),
  ])

export function orderOf(resource: ListSource<unknown>['resource'], query: ListQuery): string {
  const column = resource.column(resource.sorts[query.sort]!)
  // Spelled out only where nulls can be: otherwise it would keep PostgreSQL from reading a plain index backwards.
  const nulls = isNullable(sortLeaf(resource, query.sort)) ? ' nulls last' : ''
  return `${column} ${query.order}${nulls}, ${resource.table}.id ${query.order}`
}

const beyond = ({ sql }: Tx, resource: ListSource<unknown>['resource'], query: ListQuery, cursor: Cursor) =>
  afterCursor(
    sql,
    resource.column(resource.sorts[query.sort]!),
    `${resource.table}.id`,
    query.order,
    cursor,
    isNullable(sortLeaf(resource, query.sort)),
  )

const cursorAfter = (resource: Listable, query: ListQuery, last: object) =>
  encodeCursor(query.sort, query.order, {
    value: sortValue(resource, query.sort, last),
    id: (last as { id: string }).id,
  })
