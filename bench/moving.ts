import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '../src/kernel/sql.ts'
import { openBenchDatabase } from './data.ts'
import { type FilledProduct, startFilledProduct } from './filled.ts'
import { addAgents, addLeads, leadId } from './leads-data.ts'
import { addDeals, addMoves } from './moving-data.ts'
import { peakMemoryMb } from './process.ts'
import { median, progress, type Row, type Table } from './report.ts'

const leads = 1_000_000
const deals = 50_000
const imported = 100_000
const analytics = ['overview', 'pipeline', 'sources', 'agents', 'revenue', 'inventory']

const dayMs = 86_400_000
const threeYears = { since: new Date(Date.now() - 1_095 * dayMs).toISOString(), everySeconds: 94 }
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

/** Files in and out, many at once, and the figures of a large workspace. */
export async function measureMoving(): Promise<Table> {
  const filled = await startFilledProduct({ env: { LOG_LEVEL: 'error' } })
  const database = await openBenchDatabase(filled.product.dataDir)
  const { sql } = database
  const rows: Row[] = []
  try {
    rows.push(...(await bulkRows(filled)))
    rows.push(...(await importRows(filled)))
    progress('moving: filling')
    await addAgents(sql, filled.data.workspaceId)
    await addLeads(sql, filled.data.workspaceId, 1, leads, threeYears)
    await addMoves(sql, filled.data.workspaceId)
    await addDeals(sql, filled.data.workspaceId, filled.data.propertyIds, deals)
    rows.push(...(await analyticsRows(filled)))
    rows.push(...(await exportRows(filled, sql)))
  } finally {
    progress('')
    await database.close()
    await filled.close()
  }
  return {
    title: `Moving: files, many at once, and figures of ${leads.toLocaleString('en')} leads and ${deals.toLocaleString('en')} deals`,
    columns: ['', 'measured', 'goal'],
    rows,
    notes: [
      'Figures of three years are remembered between requests; the first answer is counted on the spot.',
    ],
  }
}

const row = (name: string, measured: string, goal = '', met?: boolean): Row => ({
  cells: [name, measured, goal],
  ...(met !== undefined && { met }),
})

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const begin = performance.now()
  const value = await work()
  return { ms: performance.now() - begin, value }
}

async function call(
  { product, headers }: FilledProduct,
  method: string,
  path: string,
  body?: unknown,
  type?: string,
) {
  const isText = typeof body === 'string'
  const answer = await fetch(product.origin + path, {
    method,
    headers: { ...headers, ...(type && { 'content-type': type }) },
    body: body === undefined ? null : isText ? (body as string) : JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`)
  return JSON.parse(text)
}

async function bulkRows(filled: FilledProduct): Promise<Row[]> {
  progress('moving: bulk')
  const unit = (at: number) => ({
    property_id: filled.data.propertyIds[0],
    name: `Bulk ${at}`,
    price: { amount: at },
  })
  const bulk: number[] = []
  const single: number[] = []
  for (let round = 0; round < 7; round++) {
    const units = Array.from({ length: 100 }, (_, at) => unit(at))
    bulk.push((await timed(() => call(filled, 'POST', '/v1/units/bulk', { units }))).ms)
    const alone = await timed(async () => {
      for (const one of units) await call(filled, 'POST', '/v1/units', one)
    })
    single.push(alone.ms)
  }
  const share = median(bulk) / median(single)
  return [
    row('bulk create of 100 units, ms', median(bulk).toFixed(1)),
    row('as a share of 100 single creates', share.toFixed(3)),
  ]
}

async function importRows(filled: FilledProduct): Promise<Row[]> {
  progress('moving: import')
  const lines = Array.from(
    { length: imported },
    (_, at) =>
      `Import ${at},import${at}@example.com,+351 ${at},website,3_months,200000,450000,EUR,"a|b","Said ""yes"", twice"`,
  )
  const header = 'name,email,phone,source,timeline,budget.min,budget.max,budget.currency,tags,notes'
  const file = `${header}\n${lines.join('\n')}\n`
  const quiet = await latency(filled, 200)
  const begin = performance.now()
  const { data } = await patiently(() => call(filled, 'POST', '/v1/leads/import', file, 'text/csv'))
  const busy: number[] = []
  let refused = 0
  for (;;) {
    const asked = await timed(() =>
      isAnswered(filled, `/v1/units/${filled.data.unitIds[busy.length % 1_000]}`),
    )
    busy.push(asked.ms)
    if (!asked.value) refused++
    if (busy.length % 50 === 0) {
      const { data: now } = await patiently(() => call(filled, 'GET', `/v1/imports/${data.id}`))
      if (now.status === 'completed') break
    }
    await sleep(5)
  }
  const seconds = (performance.now() - begin) / 1_000
  const memory = peakMemoryMb(filled.product.pid)
  return [
    row(
      `import of ${imported.toLocaleString('en')} leads, rows a second`,
      Math.round(imported / seconds).toString(),
    ),
    row('peak memory of the process, MB', memory.toFixed(0), '< 250', memory < 250),
    row('unit get meanwhile, ms (p50 / p99)', `${at(busy, 0.5)} / ${at(busy, 0.99)}`),
    row('of them told to come again, as overloaded', `${refused} of ${busy.length}`),
    row('unit get otherwise, ms (p50 / p99)', `${at(quiet, 0.5)} / ${at(quiet, 0.99)}`),
  ]
}

// Beside other work on the machine, the product may ask callers to come again.
async function isAnswered({ product, headers }: FilledProduct, path: string): Promise<boolean> {
  const answer = await fetch(product.origin + path, { headers })
  await answer.arrayBuffer()
  return answer.ok
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === 20) throw error
      await sleep(500)
    }
  }
}

async function latency(filled: FilledProduct, times: number): Promise<number[]> {
  const took: number[] = []
  for (let turn = 0; turn < times; turn++)
    took.push((await timed(() => call(filled, 'GET', `/v1/units/${filled.data.unitIds[turn]}`))).ms)
  return took
}

const at = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)]!.toFixed(1)

async function analyticsRows(filled: FilledProduct): Promise<Row[]> {
  progress('moving: analytics')
  const gets: number[] = []
  for (let turn = 0; turn < 220; turn++) {
    const { ms } = await timed(() => call(filled, 'GET', `/v1/leads/${leadId(1 + turn * 997)}`))
    if (turn >= 20) gets.push(ms)
  }
  const base = median(gets)
  const rows = [row('lead get, ms (p50)', base.toFixed(2))]
  for (const name of analytics) {
    for (const [days, query] of [
      ['30 days', ''],
      ['three years', `?start_date=${dayOf(Date.now() - 1_200 * dayMs)}`],
    ]) {
      const path = `/v1/analytics/${name}${query}`
      const first = (await timed(() => patiently(() => call(filled, 'GET', path)))).ms
      const took: number[] = []
      for (let turn = 0; turn < 30; turn++)
        took.push((await timed(() => patiently(() => call(filled, 'GET', path)))).ms)
      const times = median(took) / base
      const shown = `${median(took).toFixed(1)} ms, ${times.toFixed(1)} gets, first ${first.toFixed(0)} ms`
      rows.push(row(`${name}, ${days}`, shown, '< 10 gets', times < 10))
    }
  }
  return rows
}

async function exportRows({ product, headers, data }: FilledProduct, sql: Pool): Promise<Row[]> {
  progress('moving: export')
  const copied = await timed(async () => {
    const stream = await sql`
      copy (select * from leads order by created_at desc, id desc) to stdout with (format csv)`.readable()
    for await (const _ of stream) {
    }
  })
  const begin = performance.now()
  let firstByteMs = 0
  let lines = 0
  await new Promise<void>((done, failed) => {
    get(`${product.origin}/v1/leads/export`, { headers }, (response) => {
      response.on('data', (bytes: Buffer) => {
        firstByteMs ||= performance.now() - begin
        for (const byte of bytes) if (byte === 0x0a) lines++
      })
      response.on('end', done).on('error', failed)
    })
  })
  const seconds = (performance.now() - begin) / 1_000
  const exported = lines - 1
  const [count] = await sql`select count(*)::int as n from leads where workspace_id = ${data.workspaceId}`
  if (exported !== count!.n) throw new Error(`exported ${exported} of ${count!.n} leads`)
  const perSecond = exported / seconds
  const copyPerSecond = exported / (copied.ms / 1_000)
  return [
    row(
      `export of ${exported.toLocaleString('en')} leads as CSV, rows a second`,
      Math.round(perSecond).toString(),
    ),
    row('as a share of COPY of the same rows', (perSecond / copyPerSecond).toFixed(2)),
    row('first byte, ms', firstByteMs.toFixed(0)),
    row(
      'peak memory of the process after it, MB',
      peakMemoryMb(product.pid).toFixed(0),
      '< 250',
      peakMemoryMb(product.pid) < 250,
    ),
  ]
}
