import { expect, it } from 'vitest'
import { useHarness } from '../../test/harness.ts'
import { begin } from './sql.ts'

const harness = useHarness()

it('begins a transaction anew that waited for another which waited for it', async () => {
  const { sql } = harness
  await sql`create table doors (name text primary key, opened int not null default 0)`
  await sql`insert into doors (name) values ('left'), ('right')`
  const bothStarted = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let starts = 0
  const openBoth = (mine: number, names: string[]) =>
    begin(sql, async (tx) => {
      starts++
      await tx`update doors set opened = opened + 1 where name = ${names[0]!}`
      bothStarted[mine]!.resolve()
      await Promise.all(bothStarted.map(({ promise }) => promise))
      await tx`update doors set opened = opened + 1 where name = ${names[1]!}`
    })
  await Promise.all([openBoth(0, ['left', 'right']), openBoth(1, ['right', 'left'])])
  expect(starts).toBe(3)
  expect(await sql`select opened from doors`).toEqual([{ opened: 2 }, { opened: 2 }])
  await sql`drop table doors`
})
