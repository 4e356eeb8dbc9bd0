import type { Tx } from '../../kernel/context.ts'
import { valueAt } from '../../kernel/resource.ts'
import { raw } from '../../kernel/sql.ts'
import { setAt } from './cells.ts'
import type { ReferredKind } from './target.ts'
import { columnOf, type Plan, type Task } from './task.ts'

/** Puts ids where rows name other records, whatever they call them. A name that means nothing is a problem of its row. */
export async function resolveReferences(tx: Tx, plan: Plan, tasks: Task[]): Promise<void> {
  for (const [field, kinds] of Object.entries(plan.target.references)) {
    const path = field.split('.')
    const isRestored = plan.target.restores.includes(path[0]!)
    const name = plan.target.nameWithin?.[field] ?? /^.*$/s
    const namesIn = (value: unknown) =>
      ([value].flat() as string[]).flatMap((item) => name.exec(item)?.[0] ?? [])
    const holderOf = ({ body, restored }: Task) => (isRestored ? restored : body)
    const naming = tasks.filter((task) => valueAt(holderOf(task), path) !== null)
    const names = [...new Set(naming.flatMap((task) => namesIn(valueAt(holderOf(task), path))))]
    if (names.length === 0) continue
    const idOf = await idsOf(tx, kinds, names)
    for (const task of naming) {
      const value = valueAt(holderOf(task), path) as string | string[]
      const unknown = namesIn(value).filter((name) => !idOf(name))
      if (unknown.length > 0) {
        const what = kinds.map(({ resource }) => resource).join(' or ')
        const message = `names ${unknown.join(', ')}, which none of the ${what} of this workspace has as id${waysOf(kinds)}.`
        task.problems.push({ column: columnOf(plan, field), message })
      } else {
        const withId = (item: string) => item.replace(name, (found) => idOf(found)!)
        setAt(holderOf(task), path, Array.isArray(value) ? value.map(withId) : withId(value))
      }
    }
  }
}

const waysOf = (kinds: ReferredKind[]) => {
  const ways = ['external id', ...kinds.flatMap(({ alsoBy }) => alsoBy ?? [])]
  return ` or ${ways.join(' or ')}`
}

/**
 * Finds the id for a name. Where several records go by it, an id wins over an alias, that over an external
 * id, and that over the names that people know. Only of these the case does not count.
 */
async function idsOf(
  tx: Tx,
  kinds: ReferredKind[],
  names: string[],
): Promise<(name: string) => string | undefined> {
  const found = new Map<string, Named>()
  const keyOf = ({ name, rank }: Named) => (rank === looseRank ? looseKey(name) : name)
  const wanted = names.map((name) => name.trim())
  for (const rows of await Promise.all(kinds.map((kind) => rowsOf(tx, kind, wanted)))) {
    for (const row of rows) {
      const known = found.get(keyOf(row))
      if (!known || known.rank > row.rank) found.set(keyOf(row), row)
    }
  }
  return (name) => (found.get(name.trim()) ?? found.get(looseKey(name)))?.id
}

const looseRank = 4
const looseKey = (name: string) => `any case: ${name.trim().toLowerCase()}`

type Named = { name: string; id: string; rank: number }

function rowsOf({ sql, workspaceId }: Tx, kind: ReferredKind, names: string[]): Promise<Named[]> {
  const table = raw(sql, kind.table)
  const by = (column: string, rank: number) => sql`
    union all select ${raw(sql, column)}, id, ${rank}::int from ${table}
    where workspace_id = ${workspaceId} and ${raw(sql, column)} = any(${names})`
  const also =
    kind.alsoBy &&
    sql`
    union all select ${raw(sql, kind.alsoBy)}, id, ${looseRank}::int from ${table}
    where workspace_id = ${workspaceId}
      and ${raw(sql, `lower(${kind.alsoBy})`)} = any(${names.map((name) => name.toLowerCase())})`
  return sql<Named[]>`
    select alias as name, record_id as id, 2 as rank from import_aliases
    where workspace_id = ${workspaceId} and resource = ${kind.resource} and alias = any(${names})
    ${by('id', 1)}
    ${kind.hasExternalId ? by('external_id', 3) : sql``}
    ${also ?? sql``}`
}
