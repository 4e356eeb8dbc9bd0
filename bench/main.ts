import { measureApi } from './api.ts'
import { measureLeadGrowth } from './leads.ts'
import { measureLimits } from './limits.ts'
import { measureMoving } from './moving.ts'
import { busyNote, printTable, type Table } from './report.ts'
import { measureStart } from './start.ts'
import { compareCheckouts, measureLogging } from './variants.ts'

type Suite = () => Promise<Table>

/** What `npm run bench` measures, in this order. Each suite gives one table. */
const suites: Record<string, Suite> = {
  start: measureStart,
  api: measureApi,
  logging: measureLogging,
  leads: measureLeadGrowth,
  limits: measureLimits,
  moving: measureMoving,
}

/** Run only when they are named. */
const onRequest: Record<string, Suite> = {
  compare: compareCheckouts,
}

const known = { ...suites, ...onRequest }
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !Object.hasOwn(known, name))
if (unknown.length > 0) {
  const names = Object.keys(known).join(', ')
  process.stderr.write(`bench: there is no suite ${unknown.join(', ')}; known are ${names}\n`)
  process.exit(2)
}
// Taken before our own load begins, and told after the tables.
const busy = busyNote()
for (const name of wanted.length > 0 ? wanted : Object.keys(suites)) printTable(await known[name]!())
if (busy) process.stdout.write(`\n${busy}\n`)
