import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Context } from '../../kernel/context.ts'
import { ApiError, badRequest } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Pool, Sql } from '../../kernel/sql.ts'
import { tooLarge } from '../../kernel/upload.ts'

/** Files on their way in: kept in the database, where every process finds them. */

export const chunkBytes = 262_144

export interface ReceivedFile {
  /** Becomes the id of its import. */
  id: string
  size: number
  digest: string
  discard(): Promise<void>
  /** How it begins, enough for a header. */
  head: Buffer
  isUtf8: boolean
  /** Lines that are not empty, counting what is in quotes as one. */
  lines: number
}

/** Stores a body as it comes in, one piece in memory at a time. One that is cut off, or too large, leaves nothing. */
export async function receiveFile(ctx: Context, body: Readable, limitBytes: number): Promise<ReceivedFile> {
  const { clock, principal } = ctx
  // Not in the request's transaction: a slow sender must not keep one open, and what is left over is swept away.
  const sql = ctx.sql as Pool
  const workspaceId = principal.workspace.id
  const id = newId('imp', clock.now())
  await sql`insert into import_files (workspace_id, id, created_at) values (${workspaceId}, ${id}, ${clock.now()})`
  const discard = async () => {
    await sql`
      delete from import_files where workspace_id = ${workspaceId} and id = ${id} and not exists (
        select from import_work where workspace_id = ${workspaceId} and import_id = ${id})`
  }
  const summary = new Summary()
  let nr = 0
  try {
    for await (const chunk of inChunks(body, limitBytes)) {
      summary.add(chunk)
      await sql`insert into import_chunks (workspace_id, file_id, nr, bytes) values (${workspaceId}, ${id}, ${nr++}, ${chunk})`
    }
  } catch (error) {
    await discard()
    // A body that is left half read counts as broken too.
    const isCutOff = body.errored && !(error instanceof ApiError)
    throw isCutOff ? badRequest('The upload was cut off.', { cause: error }) : error
  }
  return { id, discard, ...summary.result() }
}

/** The pieces of a file from a place on. */
export async function* readFile(
  sql: Sql,
  workspaceId: string,
  fileId: string,
  offset: number,
): AsyncGenerator<Buffer> {
  let skip = offset % chunkBytes
  for (let nr = Math.floor(offset / chunkBytes); ; nr++) {
    const [row] = await sql`
      select bytes from import_chunks where workspace_id = ${workspaceId} and file_id = ${fileId} and nr = ${nr}`
    if (!row) return
    yield (row.bytes as Buffer).subarray(skip)
    skip = 0
  }
}

/** Pieces of equal size, the last one excepted. */
async function* inChunks(body: Readable, limitBytes: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  let total = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    total += part.length
    if (total > limitBytes) throw tooLarge(limitBytes)
    parts.push(part)
    length += part.length
    if (length < chunkBytes) continue
    const whole = Buffer.concat(parts)
    let from = 0
    for (; from + chunkBytes <= whole.length; from += chunkBytes)
      yield whole.subarray(from, from + chunkBytes)
    parts = [whole.subarray(from)]
    length = whole.length - from
  }
  if (length > 0) yield Buffer.concat(parts)
}

const headBytes = 65_536

/** What can be told of a file while it passes by. */
class Summary {
  readonly #hash = createHash('sha256')
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #head: Buffer = Buffer.alloc(0)
  #size = 0
  #isUtf8 = true
  #lines = 0
  #inQuotes = false
  #lineHasText = false

  add(chunk: Buffer): void {
    this.#hash.update(chunk)
    this.#size += chunk.length
    if (this.#head.length < headBytes) this.#head = Buffer.concat([this.#head, chunk]).subarray(0, headBytes)
    this.#check(chunk, true)
    this.#count(chunk)
  }

  result(): Omit<ReceivedFile, 'id' | 'discard'> {
    this.#check(Buffer.alloc(0), false)
    return {
      size: this.#size,
      digest: this.#hash.digest('hex'),
      head: this.#head,
      isUtf8: this.#isUtf8,
      lines: this.#lines + (this.#lineHasText ? 1 : 0),
    }
  }

  #check(chunk: Buffer, stream: boolean): void {
    if (!this.#isUtf8) return
    try {
      this.#decoder.decode(chunk, { stream })
    } catch {
      this.#isUtf8 = false
    }
  }

  #count(chunk: Buffer): void {
    for (const byte of chunk) {
      if (byte === 0x22) this.#inQuotes = !this.#inQuotes
      if (byte === 0x0a && !this.#inQuotes) {
        if (this.#lineHasText) this.#lines++
        this.#lineHasText = false
      } else if (byte > 0x20) this.#lineHasText = true
    }
  }
}
