import type { Tx } from '../../kernel/context.ts'
import { invalidField } from '../../kernel/errors.ts'
import { nothing } from '../../kernel/sql.ts'
import { unitStatuses } from '../units/schema.ts'
import { visibleUnits } from '../visibility/units.ts'
import { type Counted, type Sum, sumOf, sums } from './leads.ts'
import { type AskedScope, cohort, dayOf, daysOf, dealsOf, rate, type Scope } from './scope.ts'

export const intervals = ['week', 'month'] as const
export type Interval = (typeof intervals)[number]

interface RevenueRow extends Sum {
  begins: string
  is: 'closed' | 'opened'
  deals: number
}

/** Deals opened and closed, by week (from Monday) or month. */
export async function revenueFigures(tx: Tx, scope: Scope, interval: Interval): Promise<Counted<object>> {
  const { sql } = tx
  const { start, end } = scope
  const begins = beginnings(scope, interval)
  const rows = await sql<RevenueRow[]>`
    select 'closed' as is, date_trunc(${interval}, deals.closed_at, 'UTC')::date as begins, deals.currency,
      count(*)::int as deals, sum(deals.value) as amount
    from deals where ${dealsOf(tx, scope)} and deals.status = 'closed'
      and deals.closed_at >= ${start} and deals.closed_at < ${end} group by 2, 3
    union all
    select 'opened', date_trunc(${interval}, deals.created_at, 'UTC')::date, deals.currency,
      count(*)::int, sum(deals.value)
    from deals where ${dealsOf(tx, scope)} and deals.created_at >= ${start} and deals.created_at < ${end} group by 2, 3`
  const keyOf = (begins: string, is: RevenueRow['is']) => `${begins} ${is}`
  const byPart = Map.groupBy(rows, (row) => keyOf(row.begins, row.is))
  const part = (begins: string, is: RevenueRow['is']) => {
    const own = byPart.get(keyOf(begins, is)) ?? []
    return { deals: sumOf(own.map(({ deals }) => deals)), amounts: sums(own) }
  }
  return {
    rows: sumOf(rows.map(({ deals }) => deals)),
    figures: {
      ...daysOf(scope),
      interval,
      periods: begins.map((start_date) => ({
        start_date,
        closed: part(start_date, 'closed'),
        opened: part(start_date, 'opened'),
      })),
    },
  }
}

// Nineteen years of weeks: more is no longer a chart, and all weeks up to the year 9999 would be 50 MB.
const mostPeriods = 1_000

/** Of every week or month that has a day in the scope, so that a quiet one shows as zero. */
function beginnings({ start, end }: Scope, interval: Interval): string[] {
  const days: string[] = []
  const at = new Date(start)
  if (interval === 'month') at.setUTCDate(1)
  else at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7))
  while (at < end) {
    if (days.length === mostPeriods)
      throw invalidField('start_date', `must leave at most ${mostPeriods} ${interval}s up to end_date.`)
    days.push(dayOf(at))
    if (interval === 'month') at.setUTCMonth(at.getUTCMonth() + 1)
    else at.setUTCDate(at.getUTCDate() + 7)
  }
  return days
}

type UnitStatus = (typeof unitStatuses)[number]
interface StockRow {
  property_id: string
  name: string
  status: UnitStatus
  currency: string
  units: number
  amount: number
}

/** Units as they stand now, by property and status. Days, where given, are those in which the units were added. */
export async function inventoryFigures(tx: Tx, scope: Scope, asked: AskedScope): Promise<Counted<object>> {
  const { sql, workspaceId } = tx
  const visible = visibleUnits(tx)
  const rows = await sql<StockRow[]>`
    select stock.*, properties.name from (
      select units.property_id, units.status, units.price_currency as currency, count(*)::int as units,
        sum(units.price_amount) as amount
      from units where units.workspace_id = ${workspaceId} ${visible ? sql`and ${visible}` : nothing(sql)}
        ${asked.start_date === undefined ? nothing(sql) : sql`and units.created_at >= ${scope.start}`}
        ${asked.end_date === undefined ? nothing(sql) : sql`and units.created_at < ${scope.end}`}
        ${scope.agentId === undefined ? nothing(sql) : sql`and units.assigned_agent = ${scope.agentId}`}
        ${scope.propertyId === undefined ? nothing(sql) : sql`and units.property_id = ${scope.propertyId}`}
      group by 1, 2, 3) stock
    join properties on properties.workspace_id = ${workspaceId} and properties.id = stock.property_id
    order by properties.name, properties.id`
  const byProperty = [...Map.groupBy(rows, ({ property_id }) => property_id)]
  return {
    rows: sumOf(rows.map(({ units }) => units)),
    figures: {
      ...stockOf(rows),
      properties: byProperty.map(([property_id, own]) => ({
        property_id,
        name: own[0]!.name,
        ...stockOf(own),
      })),
    },
  }
}

/** Sell-through is what is sold of what is or was for sale. */
function stockOf(rows: StockRow[]) {
  const of = (status: UnitStatus) => rows.filter((row) => row.status === status)
  const count = (status: UnitStatus) => sumOf(of(status).map(({ units }) => units))
  const total = sumOf(rows.map(({ units }) => units))
  return {
    units: total,
    by_status: Object.fromEntries(unitStatuses.map((status) => [status, count(status)])),
    sell_through: rate(count('sold'), total),
    available_value: sums(
      [...Map.groupBy(of('available'), ({ currency }) => currency)].map(([currency, own]) => ({
        currency,
        amount: sumOf(own.map(({ amount }) => amount)),
      })),
    ),
  }
}

interface OverviewRow {
  leads: number
  won: number
  lost: number
  deals: (Sum & { is: 'opened' | 'closed'; deals: number })[]
  units: { status: UnitStatus; units: number }[]
}

/** What came, what was sold and what is left, at a glance. */
export async function overviewFigures(tx: Tx, scope: Scope): Promise<Counted<object>> {
  const { sql, workspaceId } = tx
  const visible = visibleUnits(tx)
  const { start, end } = scope
  const [row] = await sql<[OverviewRow]>`
    with came as (
      select count(*)::int as leads, count(*) filter (where leads.stage = 'won')::int as won,
        count(*) filter (where leads.stage = 'lost')::int as lost
      from leads where ${cohort(tx, scope)}),
    sold as (
      select 'closed' as is, deals.currency, count(*)::int as deals, sum(deals.value) as amount
      from deals where ${dealsOf(tx, scope)} and deals.status = 'closed'
        and deals.closed_at >= ${start} and deals.closed_at < ${end} group by 2
      union all
      select 'opened', deals.currency, count(*)::int, sum(deals.value)
      from deals where ${dealsOf(tx, scope)} and deals.created_at >= ${start} and deals.created_at < ${end} group by 2),
    stock as (
      select units.status, count(*)::int as units from units
      where units.workspace_id = ${workspaceId} ${visible ? sql`and ${visible}` : nothing(sql)}
        ${scope.agentId === undefined ? nothing(sql) : sql`and units.assigned_agent = ${scope.agentId}`}
        ${scope.propertyId === undefined ? nothing(sql) : sql`and units.property_id = ${scope.propertyId}`}
      group by 1)
    select came.*, (select coalesce(json_agg(sold), '[]') from sold) as deals,
      (select coalesce(json_agg(stock), '[]') from stock) as units from came`
  const { leads, won, lost } = row
  const dealsThat = (is: 'opened' | 'closed') => {
    const own = row.deals.filter((one) => one.is === is)
    return { deals: sumOf(own.map(({ deals }) => deals)), amounts: sums(own) }
  }
  const units = (status: UnitStatus) => row.units.find((one) => one.status === status)?.units ?? 0
  const total = sumOf(row.units.map((one) => one.units))
  return {
    rows: leads + total,
    figures: {
      ...daysOf(scope),
      leads: { created: leads, active: leads - won - lost, won, lost, conversion_rate: rate(won, leads) },
      opened: dealsThat('opened'),
      closed: dealsThat('closed'),
      inventory: {
        units: total,
        by_status: Object.fromEntries(unitStatuses.map((status) => [status, units(status)])),
        sell_through: rate(units('sold'), total),
      },
    },
  }
}
