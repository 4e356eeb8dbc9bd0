import { endOf } from '../../kernel/limits/counters.ts'
import { planWindowMs } from '../../kernel/limits/plans.ts'

/** So many requests of one credential to one route on one day. */
export interface UsageRow {
  workspace_id: string
  day: string
  credential_id: string
  route: string
  requests: number
}

type Routes = Map<string, number>
type Credentials = Map<string, Routes>
type Workspaces = Map<string, Credentials>

/** Counts requests by day, workspace, credential and route: nested, so that counting builds no key. */
export class Tally {
  #days = new Map<string, Workspaces>()

  add(day: string, workspaceId: string, credentialId: string, route: string, requests = 1): void {
    const routes = inner(inner(inner(this.#days, day), workspaceId), credentialId)
    routes.set(route, (routes.get(route) ?? 0) + requests)
  }

  /** Takes everything out. */
  takeRows(): UsageRow[] {
    const rows: UsageRow[] = []
    for (const [day, workspaces] of this.#days)
      for (const [workspace_id, credentials] of workspaces)
        for (const [credential_id, routes] of credentials)
          for (const [route, requests] of routes)
            rows.push({ workspace_id, day, credential_id, route, requests })
    this.#days = new Map()
    return rows
  }

  /** What a workspace has in here for a day. */
  requestsOf(day: string, workspaceId: string): number {
    let sum = 0
    for (const routes of this.#days.get(day)?.get(workspaceId)?.values() ?? [])
      for (const requests of routes.values()) sum += requests
    return sum
  }
}

function inner<K, V>(outer: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const known = outer.get(key)
  if (known) return known
  const made = new Map<K, V>()
  outer.set(key, made)
  return made
}

/** The UTC day of a moment as text, made once a day. */
export class Days {
  #endsAtMs = 0
  #name = ''

  at(nowMs: number): string {
    if (nowMs >= this.#endsAtMs || nowMs < this.#endsAtMs - planWindowMs.day) {
      this.#endsAtMs = endOf(nowMs, planWindowMs.day)
      this.#name = new Date(nowMs).toISOString().slice(0, 10)
    }
    return this.#name
  }
}
