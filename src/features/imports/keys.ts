import type { Tx } from '../../kernel/context.ts'
import type { Problem } from '../../kernel/errors.ts'
import { valueAt } from '../../kernel/resource.ts'
import type { Target } from './target.ts'
import type { Task } from './task.ts'

/*
 * What rows and records are known by, as texts that can be compared; and which of them earlier rows of an
 * import had, for what the tables do not tell: a dry run leaves nothing in them.
 */

/** The names by which a row can be about a record that is there, surest first. */
export function keysOf(target: Target, task: Task): string[] {
  const same = sameKey(target, task.body)
  return same === undefined ? ownKeys(task) : [...ownKeys(task), same]
}

/** What a row says of itself, unlike what it only has in common with a record. */
export function ownKeys({ body, restored }: Task): string[] {
  return [
    ...(restored.id ? [`id ${restored.id}`] : []),
    ...(typeof body.external_id === 'string' ? [`external_id ${body.external_id}`] : []),
  ]
}

export function sameValues({ sameWhen }: Target, record: object): string[] | undefined {
  const values = sameWhen?.fields.map((field) => valueAt(record, field.split('.')))
  if (!values?.every((value) => typeof value === 'string' && value !== '')) return undefined
  return values.map((value) => (sameWhen!.anyCase ? String(value).toLowerCase() : String(value)))
}

export function sameKey(target: Target, record: object): string | undefined {
  const values = sameValues(target, record)
  return values && keyOfValues(values)
}

export const keyOfValues = (values: string[]) => `same ${JSON.stringify(values)}`

/** What a row of a dry run leaves behind for later ones to meet. */
function keysToLeave(target: Target, task: Task): string[] {
  const same = sameKey(target, task.body)
  const uniques = uniqueKeys(target, task).map(({ key }) => key)
  return [
    ...ownKeys(task),
    ...uniques,
    ...(same === undefined ? [] : [same + namesOf(target, task).join('')]),
  ]
}

/** What a row can meet of an earlier one: two rows that both say who they are, and differ, are not alike. */
export function keysToMeet(target: Target, task: Task): string[] {
  const same = sameKey(target, task.body)
  if (same === undefined) return ownKeys(task)
  const names = namesOf(target, task)
  const others = [[], [hasId], [hasExternalId], [hasId, hasExternalId]]
  const met = others.filter((other) => !other.some((name) => names.includes(name)))
  return [...ownKeys(task), ...met.map((other) => same + other.join(''))]
}

const hasId = ' with id'
const hasExternalId = ' with external id'

const namesOf = ({ sameWhen }: Target, { body, restored }: Task): string[] =>
  sameWhen?.whateverId
    ? []
    : [...(restored.id ? [hasId] : []), ...(body.external_id === undefined ? [] : [hasExternalId])]

function uniqueKeys({ batch }: Target, { body }: Task): { field: string; key: string }[] {
  return Object.entries(batch.unique).flatMap(([field, how]) => {
    const value = valueAt(body, field.split('.'))
    if (typeof value !== 'string') return []
    return [{ field, key: `${field} ${how === 'anyCase' ? value.toLowerCase() : value}` }]
  })
}

/** What keeps rows of a dry run from being created: values that an earlier row has taken. */
export async function takenBefore(
  tx: Tx,
  target: Target,
  importId: string,
  tasks: Task[],
): Promise<(task: Task) => Problem[]> {
  const keys = tasks.flatMap((task) => uniqueKeys(target, task).map(({ key }) => key))
  const met = await keysMet(tx, importId, keys)
  return (task) =>
    uniqueKeys(target, task)
      .filter(({ key }) => met.has(key))
      .map(({ field }) => ({ field, message: 'is already taken by another record.' }))
}

/** Which of these earlier rows had. */
export async function keysMet(
  { sql, workspaceId }: Tx,
  importId: string,
  keys: string[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const rows = await sql`
    select key from import_keys
    where workspace_id = ${workspaceId} and import_id = ${importId} and key = any(${keys})`
  return new Set(rows.map((row) => row.key))
}

/** For the rest of a dry run: what it would have created. */
export const rememberCreated = (tx: Tx, target: Target, importId: string, tasks: Task[]): Promise<void> =>
  remember(
    tx,
    importId,
    tasks.flatMap((task) => keysToLeave(target, task)),
  )

/** Which records came in under an id of their own: another row that has one is about another record. */
export async function rememberIds(tx: Tx, target: Target, importId: string, tasks: Task[]): Promise<void> {
  if (!target.sameWhen || target.sameWhen.whateverId) return
  const ids = tasks.flatMap(({ restored }) => (restored.id ? [`id ${restored.id}`] : []))
  await remember(tx, importId, ids)
}

async function remember({ sql, workspaceId }: Tx, importId: string, keys: string[]): Promise<void> {
  if (keys.length === 0) return
  await sql`
    insert into import_keys (workspace_id, import_id, key)
    select ${workspaceId}, ${importId}, key from unnest(${keys}::text[]) as key
    on conflict do nothing`
}
