import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '../../kernel/context.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 32
const checksumLength = 6
const shape = /^(pb_(?:live|test)_[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

export const keyPrefixes: Record<Environment, string> = { production: 'pb_live_', sandbox: 'pb_test_' }

/** A new key: prefix, 32 random characters, and a checksum over both. */
export function newKeyToken(environment: Environment): string {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const body = keyPrefixes[environment] + random
  return body + checksum(body)
}

/** Whether a key has our form but a wrong checksum: somebody mistyped it, and no look-up is needed. */
export function isMistyped(token: string): boolean {
  const [, body, sum] = shape.exec(token) ?? []
  return body !== undefined && checksum(body) !== sum
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[rest % alphabet.length]! + digits
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}
