/** The kinds of value a setting can have. `parse` throws the end of a sentence that begins with "it". */
export interface Setting<T> {
  description: string
  fallback: T | undefined
  /** The default, as the documentation shows it. */
  shown: string | undefined
  parse(text: string): T
}

const setting = <T>(
  description: string,
  fallback: T | undefined,
  parse: (text: string) => T,
  shown?: string,
): Setting<T> => ({
  description,
  fallback,
  shown: shown ?? (fallback === undefined ? undefined : String(fallback)),
  parse,
})

export const plain = (description: string, fallback?: string) =>
  setting(description, fallback, (text) => text)

export const wholeNumber = (
  description: string,
  fallback: number,
  { min, max }: { min: number; max: number },
) =>
  setting(description, fallback, (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new Error(`must be a whole number from ${min} to ${max}`)
    return value
  })

export const port = (description: string, fallback: number) =>
  wholeNumber(description, fallback, { min: 0, max: 65_535 })

export const flagOf = (description: string, fallback?: boolean) =>
  setting(description, fallback, (text) => {
    if (/^(true|1|yes|on)$/i.test(text)) return true
    if (/^(false|0|no|off)$/i.test(text)) return false
    throw new Error('must be true or false')
  })

export const choiceOf = <const V extends readonly string[]>(
  values: V,
  description: string,
  fallback: V[number],
) =>
  setting<V[number]>(description, fallback, (text) => {
    if (!values.includes(text)) throw new Error(`must be one of ${values.join(', ')}`)
    return text
  })

export const urlOf = (protocols: string[], description: string) =>
  setting<string>(description, undefined, (text) => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
      throw new Error(
        `must be an address that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
      )
    }
    return text.replace(/\/+$/, '')
  })

const factors: Record<string, number> = { '': 1, b: 1, kb: 1_000, mb: 1_000_000, kib: 1_024, mib: 1_048_576 }

export const bytes = (description: string, fallback: number, shown: string) =>
  setting(
    description,
    fallback,
    (text) => {
      const [, amount, unit] = /^(\d+)\s*(|b|kb|mb|kib|mib)$/i.exec(text) ?? []
      if (amount === undefined) throw new Error('must be a size such as 1048576, 512kb or 1mib')
      return Number(amount) * factors[unit!.toLowerCase()]!
    },
    shown,
  )

const unitsOfTime: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function durationMs(text: string): number {
  const [, amount, unit] = /^(\d{1,9})\s*(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  if (amount === undefined || Number(amount) === 0)
    throw new Error('must be made of times such as 500ms, 5s, 30m, 2h or 1d')
  return Number(amount) * unitsOfTime[unit!]!
}

export const duration = (description: string, shown: string) =>
  setting(description, durationMs(shown), durationMs, shown)

export const durations = (description: string, shown: string) =>
  setting(description, shown.split(',').map(durationMs), (text) => text.split(',').map(durationMs), shown)

export const listOfValues = <T>(
  description: string,
  parseOne: (text: string) => T | undefined,
  expected: string,
) =>
  setting<T[]>(description, undefined, (text) =>
    text.split(',').map((part) => {
      const value = parseOne(part.trim())
      if (value === undefined) throw new Error(`must be ${expected}`)
      return value
    }),
  )
