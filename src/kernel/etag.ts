import { hash } from 'node:crypto'
import { ApiError } from './errors.ts'

/*
 * An ETag has two halves: the record's version and a digest of the bytes shown. If-None-Match
 * compares both, so derived figures and `fields` count; If-Match compares the version alone, so that
 * a PUT is refused only when the record itself has changed, not when a unit was added to a property.
 */

const digest = (body: string) => hash('sha1', body, 'base64url').slice(0, 16)

export const etagOf = (body: string, version?: number): string =>
  version === undefined ? `"${digest(body)}"` : `"${version}-${digest(body)}"`

const listed = (header: string) => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))

export const isUnchanged = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && (ifNoneMatch.trim() === '*' || listed(ifNoneMatch).includes(etag))

/** Throws unless If-Match is absent or names this version. */
export function requireVersion(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  if (listed(ifMatch).some((tag) => tag.startsWith(`"${version}-`) || tag === `"${version}"`)) return
  throw new ApiError(
    'PRECONDITION_FAILED',
    'The record has changed since the ETag in If-Match. Read it again, apply your change and send it with the new ETag.',
  )
}
