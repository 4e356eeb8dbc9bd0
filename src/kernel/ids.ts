import { randomFillSync } from 'node:crypto'

export const prefixes = [
  'acct',
  'activity',
  'agent',
  'comm',
  'deal',
  'del',
  'evt',
  'imp',
  'inv',
  'key',
  'lead',
  'mail',
  'note',
  'notice',
  'oac',
  'prop',
  'sess',
  'team',
  'unit',
  'webhook',
  'ws',
] as const

export type Prefix = (typeof prefixes)[number]

// Crockford's alphabet in lower case: sorts like the numbers it stands for, and has no i, l, o, u to misread.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const timeLength = 10
const randomLength = 16

// One call for random bytes costs about 1 µs whatever its size, so a pool serves many ids.
const pool = Buffer.alloc(4096)
let used = pool.length

/** 80 random bits. */
export function randomCharacters(): string {
  if (used + randomLength > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  let text = ''
  for (let i = 0; i < randomLength; i++) text += alphabet[pool[used++]! & 31]
  return text
}

let lastTime = Number.NaN
let lastRandom = ''

/**
 * `lead_01k9…`: the time in milliseconds, then 80 random bits. Ids of one process sort by their
 * creation even within a millisecond, so that what one statement writes reads in the order it happened.
 */
export function newId(prefix: Prefix, now: Date): string {
  lastRandom = now.getTime() === lastTime ? successor(lastRandom) : randomCharacters()
  lastTime = now.getTime()
  return `${prefix}_${timeCharacters(lastTime)}${lastRandom}`
}

/** The next number in our alphabet; past the last one, it starts anew. */
function successor(text: string): string {
  let at = text.length - 1
  while (at >= 0 && text[at] === 'z') at--
  if (at < 0) return randomCharacters()
  const next = alphabet[alphabet.indexOf(text[at]!) + 1]!
  return text.slice(0, at) + next + '0'.repeat(text.length - at - 1)
}

function timeCharacters(ms: number): string {
  let time = ''
  let rest = ms
  for (let i = 0; i < timeLength; i++) {
    time = alphabet[rest % 32]! + time
    rest = Math.floor(rest / 32)
  }
  return time
}

const shape = /^[a-z]{2,10}_[0-9A-Za-z_-]{1,64}$/

/** Whether a text could be an id of this kind at all; anything else need not reach the database. */
export const isId = (prefix: Prefix, text: string): boolean =>
  text.startsWith(`${prefix}_`) && shape.test(text)
