import { invalidField } from '../../kernel/errors.ts'

export const periods = ['week', 'month', 'quarter', 'year'] as const
export type Period = (typeof periods)[number]

/** A stretch of whole UTC days; `end` is the moment after the last of them. */
export interface Span {
  start: Date
  end: Date
}

const dayMs = 86_400_000
const midnight = (date: string) => new Date(`${date}T00:00:00Z`)

/** The calendar period around a moment. Weeks begin on Monday. */
export function calendarPeriod(period: Period, at: Date): Span {
  const year = at.getUTCFullYear()
  const month = at.getUTCMonth()
  const first = { year: 0, quarter: month - (month % 3), month }
  if (period === 'week') {
    const monday = at.getUTCDate() - ((at.getUTCDay() + 6) % 7)
    return { start: utc(year, month, monday), end: utc(year, month, monday + 7) }
  }
  const length = { year: 12, quarter: 3, month: 1 }[period]
  return { start: utc(year, first[period], 1), end: utc(year, first[period] + length, 1) }
}

const utc = (year: number, month: number, day: number) => new Date(Date.UTC(year, month, day))

/** The days asked for: the dates given, each completed by the period around the other, or else the period. */
export function spanOf(
  asked: { period?: Period; start_date?: string; end_date?: string },
  now: Date,
): Span & { period: Period | 'custom' } {
  const { period = 'month', start_date, end_date } = asked
  if (start_date === undefined && end_date === undefined) return { period, ...calendarPeriod(period, now) }
  const end = end_date === undefined ? now : midnight(end_date)
  const start = start_date === undefined ? calendarPeriod(period, end).start : midnight(start_date)
  if (start > end) throw invalidField('start_date', 'must not be after end_date.')
  return { period: 'custom', start, end: new Date(midnight(dayOf(end)).getTime() + dayMs) }
}

export const dayOf = (date: Date) => date.toISOString().slice(0, 10)
export const lastDayOf = ({ end }: Span) => dayOf(new Date(end.getTime() - dayMs))
