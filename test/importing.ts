import pino from 'pino'
import { runImports } from '../src/features/imports/work.ts'
import type { Harness } from './harness.ts'
import type { Scenario } from './scenario.ts'

/** Sends a file in and works it off, as a worker would. Gives back the import as it then is. */

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answered = any

export interface ImportRequest extends Partial<Scenario> {
  post: string
  file: string | Buffer
  type?: string
}

export async function sendFile(harness: Harness, { post, file, type = 'text/csv', ...rest }: ImportRequest) {
  return harness.scenario({
    status: 202,
    ...rest,
    post,
    body: file,
    headers: { 'content-type': type, ...rest.headers },
  })
}

/** Works off whatever waits. */
export async function workOff(harness: Harness): Promise<void> {
  const urls = { ...harness.urls, auth: harness.urls.production }
  const { sql, clock, secrets, courier } = harness
  for (let waiting = 1; waiting > 0; ) {
    await runImports({ sql, clock, secrets, courier, urls, log: pino({ level: 'silent' }) })
    waiting = (await sql`select count(*)::int as n from import_work`)[0]!.n
  }
}

export async function importFile(harness: Harness, request: ImportRequest): Promise<Answered> {
  const { data } = await sendFile(harness, request)
  await workOff(harness)
  const as = request.as === undefined ? {} : { as: request.as }
  return (await harness.scenario({ ...as, get: `/v1/imports/${data.id}`, status: 200 })).data
}

export async function errorsOf(harness: Harness, importId: string): Promise<Answered[]> {
  const { data } = await harness.scenario({ get: `/v1/imports/${importId}/errors?per_page=100`, status: 200 })
  return data
}

/** The text of a file. */
export const lines = (...rows: string[]) => `${rows.join('\n')}\n`

/** How many sessions wait for somebody else's lock. */
export async function waitingForLocks({ sql }: Harness): Promise<number> {
  const [row] = await sql`
    select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return row!.n
}
