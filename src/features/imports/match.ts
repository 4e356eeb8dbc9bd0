import type { Tx } from '../../kernel/context.ts'
import { allOf, type Fragment, raw } from '../../kernel/sql.ts'
import { keyOfValues, keysMet, keysOf, keysToMeet, ownKeys, sameKey, sameValues } from './keys.ts'
import type { Target } from './target.ts'
import type { Task } from './task.ts'

/** The record that a row is about: one that is there, one that an earlier row of a dry run would have made, or several. */
export type Match = { id: string } | 'earlier row' | 'several'

/**
 * Rows in groups, such that no two of a group can be about the same record: a second row about a
 * record then finds what the first one made of it.
 */
export function waves(target: Target, tasks: Task[]): Task[][] {
  const groups: Task[][] = []
  const lastGroup = new Map<string, number>()
  for (const task of tasks) {
    const keys = keysOf(target, task)
    const group = Math.max(-1, ...keys.map((key) => lastGroup.get(key) ?? -1)) + 1
    for (const key of keys) lastGroup.set(key, group)
    const members = groups[group] ?? []
    groups[group] = [...members, task]
  }
  return groups
}

/** At most five statements, whatever the number of rows. In a dry run, earlier rows of the import count too. */
export async function findMatches(
  tx: Tx,
  target: Target,
  tasks: Task[],
  importId: string,
  dryRun: boolean,
): Promise<Map<Task, Match>> {
  const [ids, externalIds, alikes, earlier] = await Promise.all([
    byId(tx, target, tasks),
    byExternalId(tx, target, tasks),
    bySame(tx, target, tasks),
    dryRun
      ? keysMet(
          tx,
          importId,
          tasks.flatMap((task) => keysToMeet(target, task)),
        )
      : new Set<string>(),
  ])
  const known = new Map<string, Match>()
  for (const { id } of ids) known.set(`id ${id}`, { id })
  for (const { id, name } of externalIds) known.set(`external_id ${name}`, { id })
  const matches = new Map<Task, Match>()
  for (const task of tasks) {
    const own = ownKeys(task)
    const match = own.map((key) => known.get(key)).find((one) => one !== undefined)
    if (match) matches.set(task, match)
    else if (own.some((key) => earlier.has(key))) matches.set(task, 'earlier row')
  }
  const left = tasks.filter((task) => !matches.has(task))
  const others = await alikeTo(tx, target, left, alikes, importId)
  for (const task of left) {
    const [one, another] = others(task)
    if (another) matches.set(task, 'several')
    else if (one) matches.set(task, { id: one.id })
    else if (keysToMeet(target, task).some((key) => earlier.has(key))) matches.set(task, 'earlier row')
  }
  return matches
}

interface Alike {
  id: string
  external_id: string | null
  values: string[]
}

/**
 * Records that have something in common with a row, but for those that are somebody else: they have another
 * external id, or an earlier row brought them in under another id of ours.
 */
async function alikeTo(
  tx: Tx,
  target: Target,
  tasks: Task[],
  alikes: Alike[],
  importId: string,
): Promise<(task: Task) => Alike[]> {
  const bySameKey = Map.groupBy(alikes, ({ values }) => keyOfValues(values))
  const of = (task: Task) => bySameKey.get(sameKey(target, task.body) ?? '') ?? []
  if (target.sameWhen?.whateverId) return of
  const inQuestion = tasks.filter(({ restored }) => restored.id).flatMap((task) => of(task))
  const broughtIn = await keysMet(
    tx,
    importId,
    inQuestion.map(({ id }) => `id ${id}`),
  )
  return (task) =>
    of(task).filter(({ id, external_id }) => {
      const isCalledOtherwise =
        task.body.external_id !== undefined && external_id !== null && task.body.external_id !== external_id
      return !isCalledOtherwise && !(task.restored.id && broughtIn.has(`id ${id}`))
    })
}

const visibleTo = (tx: Tx, target: Target): Fragment => {
  const visible = target.visible?.(tx)
  return visible ? tx.sql`and ${visible}` : tx.sql``
}

async function byId(tx: Tx, target: Target, tasks: Task[]): Promise<{ id: string }[]> {
  const ids = tasks.flatMap(({ restored }) => restored.id ?? [])
  if (ids.length === 0) return []
  const { sql, workspaceId } = tx
  return sql<{ id: string }[]>`
    select id from ${raw(sql, target.resource.table)}
    where workspace_id = ${workspaceId} and id = any(${ids}) ${visibleTo(tx, target)}`
}

async function byExternalId(tx: Tx, target: Target, tasks: Task[]): Promise<{ id: string; name: string }[]> {
  const names = tasks.flatMap(({ body }) => (typeof body.external_id === 'string' ? body.external_id : []))
  if (names.length === 0) return []
  const { sql, workspaceId } = tx
  return sql<{ id: string; name: string }[]>`
    select id, external_id as name from ${raw(sql, target.resource.table)}
    where workspace_id = ${workspaceId} and external_id = any(${names}) ${visibleTo(tx, target)}`
}

async function bySame(tx: Tx, target: Target, tasks: Task[]): Promise<Alike[]> {
  const wanted = tasks.flatMap(({ body }) => {
    const values = sameValues(target, body)
    return values ? [values] : []
  })
  if (wanted.length === 0) return []
  const { sql, workspaceId } = tx
  const { fields, anyCase } = target.sameWhen!
  const columns = fields.map((field) => (anyCase ? `lower(${field})` : field))
  // Each column by itself, so that an index is used whatever PostgreSQL knows of the table; what fits in
  // one column and not in the other falls out when keys are compared.
  const conditions = columns.map(
    (column, at) => sql`${raw(sql, column)} = any(${[...new Set(wanted.map((values) => values[at]!))]})`,
  )
  const externalId = raw(sql, 'external_id' in target.resource.fields ? 'external_id' : 'null')
  return sql<Alike[]>`
    select id, ${externalId} as external_id, array[${raw(sql, columns.join(', '))}] as values
    from ${raw(sql, target.resource.table)}
    where workspace_id = ${workspaceId} and ${allOf(sql, conditions)} ${visibleTo(tx, target)}`
}
