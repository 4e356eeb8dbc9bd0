import { eventNames } from '../../events/catalog.ts'
import type { Tx } from '../../kernel/context.ts'
import {
  anyOf,
  equalsText,
  type Filter,
  type Filters,
  onOrAfterDay,
  onOrBeforeDay,
} from '../../kernel/filters.ts'
import { listPage, type Page } from '../../kernel/list.ts'
import type { Listable, ListQuery } from '../../kernel/list-query.ts'
import { integerParam } from '../../kernel/query.ts'
import { raw } from '../../kernel/sql.ts'
import { EventRecord } from './schema.ts'

const afterSequence: Filter<number> = {
  param: integerParam(
    'Only events after this number, lowest number first: ask with the highest number seen to follow all that happens.',
    { min: 0, max: 999_999_999_999_999 },
  ),
  where: (sql, number) => sql`events.sequence > ${number}`,
}

export const eventFilters: Filters = {
  event: anyOf(EventRecord.column('event'), 'text', eventNames, 'Only this event.'),
  resource_id: equalsText(EventRecord.column('resource_id'), 'Only events of this record.'),
  created_after: onOrAfterDay(EventRecord.column('created_at'), 'Only events of this day (UTC) or later.'),
  created_before: onOrBeforeDay(
    EventRecord.column('created_at'),
    'Only events of this day (UTC) or earlier.',
  ),
  after_sequence: afterSequence,
}

/** The same list in the order of the numbers, for those who follow them. */
export const followed: Listable & { table: string } = { ...EventRecord, sorts: { created_at: 'sequence' } }

/** Events that have their number. The fan-out gives it within moments, and always to the lower ones first. */
export function listEvents(
  tx: Tx,
  resource: Listable & { table: string },
  query: ListQuery,
): Promise<Page<EventRecord>> {
  const { sql } = tx
  return listPage(
    tx,
    {
      resource,
      filters: eventFilters,
      select: selected(tx),
      where: [sql`events.sequence is not null`],
      fromRow: EventRecord.fromRow,
    },
    query,
  )
}

export async function findEvent(tx: Tx, id: string): Promise<EventRecord | undefined> {
  const { sql, workspaceId } = tx
  const [row] = await sql`
    select ${selected(tx)} from events
    where workspace_id = ${workspaceId} and id = ${id} and sequence is not null`
  return row && EventRecord.fromRow(row)
}

const selected = ({ sql }: Tx) => sql`${raw(sql, EventRecord.selectList)}, events.created_at as "timestamp"`
