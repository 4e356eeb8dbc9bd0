/** The shapes of text and numbers that bodies and queries are checked for. */

// A lone surrogate can't be stored as UTF-8 and PostgreSQL refuses NUL: both would come back changed or fail late.
export const isText = (value: string) => value.isWellFormed() && !value.includes('\0')

// Shape only: one @, something on both sides, a dotted domain without spaces. Delivery decides the rest.
const emailShape = /^[^\s@"(),:;<>[\\\]]+@[^\s@.,]+(\.[^\s@.,]+)+$/u
export const isEmail = (value: string) => isText(value) && emailShape.test(value) && !value.includes('..')

export function isHttpUrl(value: string): boolean {
  if (!isText(value) || !/^https?:\/\/[^/\\?#]/i.test(value) || /\s/.test(value)) return false
  return URL.canParse(value)
}

export function isDate(value: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value)
  if (!parts || parts[1] === '0000') return false
  const day = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value)
}

const timestampShape =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
export function isTimestamp(value: string): boolean {
  const parts = timestampShape.exec(value)
  if (!parts || !isDate(parts[1]!)) return false
  const year = new Date(value).getUTCFullYear()
  return year >= 1 && year <= 9999
}

export const isTwoDecimals = (value: number) => Math.round(value * 100) / 100 === value
