import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../src/kernel/ids.ts'
import type { Pool } from '../src/kernel/sql.ts'
import { openBenchDatabase } from './data.ts'
import { type FilledProduct, startFilledProduct } from './filled.ts'
import { childrenOf, cpuSeconds, peakMemoryMb } from './process.ts'
import { busyNote, median, printTable, progress, type Table } from './report.ts'

/*
 * Webhook deliveries: how many a second to one local receiver, beside a bare loop that posts the same
 * bytes with the same concurrency; how long from commit to receipt at 100 events a second; memory.
 * The two take turns, since the machine is never the same twice.
 */

const concurrency = 32
const roundsOfEach = 3
const bareSeconds = 3
const eventsPerRound = 20_000
const eventsPerSecond = 100
const latencySeconds = 10
const goals = { ratio: 0.5, p50Ms: 50 }

interface Round {
  bare: Posts
  ours: Posts
  /** Of PostgreSQL, for one delivery. */
  databaseMicroseconds: number
}

interface Posts {
  perSecond: number
  /** Of the process that posts, for one post. */
  cpuMicroseconds: number
}

interface Tally {
  received: number
  overMs: number
  latencies: number[]
}

export async function measureDeliveries(): Promise<Table> {
  const receiver = fork(join(import.meta.dirname, 'receiver-process.ts'))
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }]
  const url = `http://127.0.0.1:${port}/hook`
  const filled = await startFilledProduct()
  const database = await openBenchDatabase(filled.product.dataDir)
  try {
    await subscribe(filled, url)
    const body = await payloadLike(database.sql, filled.data.workspaceId)
    const rounds: Round[] = []
    await sustained(receiver, database.sql, filled)
    for (let round = 0; round < roundsOfEach; round++) {
      progress(`deliveries, round ${round + 1}`)
      rounds.push({ bare: await bare(url, body), ...(await sustained(receiver, database.sql, filled)) })
    }
    const latencies = await latencyOf(receiver, filled)
    progress('')
    return tableOf(rounds, latencies, peakMemoryMb(filled.product.pid))
  } finally {
    receiver.disconnect()
    await database.close()
    await filled.close()
  }
}

async function subscribe({ product, headers }: FilledProduct, url: string): Promise<void> {
  const answer = await fetch(`${product.origin}/v1/webhooks`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ url, events: ['*'] }),
  })
  if (answer.status !== 201) throw new Error(`no webhook: ${await answer.text()}`)
}

/** A unit of the bench's own data as an event tells of it. */
async function unitData(sql: Pool, workspaceId: string): Promise<string> {
  const [row] =
    await sql`select row_to_json(u)::text as data from units u where workspace_id = ${workspaceId} limit 1`
  return row!.data
}

const payloadLike = async (sql: Pool, workspaceId: string) =>
  `{"id":"evt_01k9x2w8y0a2c4e6g8j0m2p4r6","event":"unit.created","timestamp":"2026-01-31T09:30:00.000Z","workspace_id":"${workspaceId}","data":${await unitData(sql, workspaceId)}}`

async function bare(url: string, body: string): Promise<Posts> {
  const words = [url, String(concurrency), String(bareSeconds), body]
  const child = fork(join(import.meta.dirname, 'bare-posts.ts'), words)
  const [posts] = (await once(child, 'message')) as [Posts]
  await once(child, 'exit')
  return posts
}

/** Writes many events at once and sees how fast they go out: fan-out, claims, signing and records included. */
async function sustained(
  receiver: ChildProcess,
  sql: Pool,
  { product, data }: FilledProduct,
): Promise<Omit<Round, 'bare'>> {
  receiver.send('reset')
  const now = new Date()
  const ids = Array.from({ length: eventsPerRound }, () => newId('evt', now))
  await sql`
    insert into events (workspace_id, id, event, resource_id, data, created_at)
    select ${data.workspaceId}, id, 'unit.created', 'unit_1', ${await unitData(sql, data.workspaceId)}::text::json, ${now}
    from unnest(${ids}::text[]) as e (id)`
  const database = processesOfDatabase(product.pid)
  const before = { product: cpuSeconds(product.pid), database: total(database) }
  await sql`notify plotbase_work`
  const { overMs } = await tallyOf(receiver, eventsPerRound)
  await sleep(300)
  const each = (seconds: number) => (seconds * 1e6) / eventsPerRound
  return {
    ours: {
      perSecond: eventsPerRound / (overMs / 1_000),
      cpuMicroseconds: each(cpuSeconds(product.pid) - before.product),
    },
    databaseMicroseconds: each(total(database) - before.database),
  }
}

/** The backends that are there all the while. */
const processesOfDatabase = (pid: number) => childrenOf(pid).flatMap(childrenOf)
const total = (pids: number[]) => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)

/** Changes made through the API at a steady pace. */
async function latencyOf(
  receiver: ChildProcess,
  { product, data, headers }: FilledProduct,
): Promise<number[]> {
  receiver.send('reset')
  const total = eventsPerSecond * latencySeconds
  const startedAt = performance.now()
  const body = JSON.stringify({ property_id: data.propertyIds[0], name: 'Bench', price: { amount: 1 } })
  const calls: Promise<unknown>[] = []
  for (let number = 0; number < total; number++) {
    const waitMs = startedAt + (number * 1_000) / eventsPerSecond - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    calls.push(
      fetch(`${product.origin}/v1/units`, { method: 'POST', headers, body }).then((answer) => answer.text()),
    )
  }
  await Promise.all(calls)
  return (await tallyOf(receiver, total)).latencies
}

async function tallyOf(receiver: ChildProcess, expected: number): Promise<Tally> {
  for (let waited = 0; waited < 120_000; waited += 100) {
    await sleep(100)
    receiver.send('tally')
    const [tally] = (await once(receiver, 'message')) as [Tally]
    if (tally.received >= expected) return tally
  }
  throw new Error('the deliveries did not all come')
}

function tableOf(rounds: Round[], latencies: number[], memoryMb: number): Table {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!
  const ratio = median(rounds.map(({ ours, bare }) => ours.perSecond / bare.perSecond))
  const ofProcess = median(rounds.map(({ ours, bare }) => bare.cpuMicroseconds / ours.cpuMicroseconds))
  const whole = (values: number[]) => String(Math.round(median(values)))
  return {
    title: 'Webhook deliveries to one local receiver',
    columns: ['', 'found', 'goal'],
    rows: [
      { cells: ['deliveries per second', whole(rounds.map(({ ours }) => ours.perSecond)), ''] },
      { cells: ['bare posts per second', whole(rounds.map(({ bare }) => bare.perSecond)), ''] },
      { cells: ['ratio', ratio.toFixed(2), goals.ratio.toFixed(2)], met: ratio >= goals.ratio },
      { cells: ['process, µs per delivery', whole(rounds.map(({ ours }) => ours.cpuMicroseconds)), ''] },
      { cells: ['bare loop, µs per post', whole(rounds.map(({ bare }) => bare.cpuMicroseconds)), ''] },
      { cells: ['ratio of these', ofProcess.toFixed(2), ''] },
      { cells: ['PostgreSQL, µs per delivery', whole(rounds.map((each) => each.databaseMicroseconds)), ''] },
      {
        cells: ['commit to receipt, p50 ms', whole([at(0.5)]), `${goals.p50Ms}`],
        met: at(0.5) < goals.p50Ms,
      },
      { cells: ['commit to receipt, p99 ms', whole([at(0.99)]), ''] },
      { cells: ['peak memory, MB', whole([memoryMb]), ''] },
    ],
    notes: [
      `${concurrency} at once; latency at ${eventsPerSecond} changes per second through the API.`,
      'The bare loop has the cores for itself and its receiver; the product shares them with PostgreSQL.',
    ],
  }
}

if (import.meta.main) {
  const busy = busyNote()
  printTable(await measureDeliveries())
  if (busy) process.stdout.write(`\n${busy}\n`)
}
