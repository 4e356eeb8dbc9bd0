import type { Clock } from '../../kernel/clock.ts'
import type { Principal } from '../../kernel/context.ts'
import type { Sql } from '../../kernel/sql.ts'

interface Use {
  workspaceId: string
  id: string
  at: Date
}

/** When keys and people were last seen. Noted in memory and written in batches: a request costs no write. */
export class LastUsed {
  readonly #clock: Clock
  #keys = new Map<string, Use>()
  #people = new Map<string, Use>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A key is noted where it belongs, a person in the workspace they are acting in. */
  note(home: Principal, acting: Principal): void {
    const at = this.#clock.now()
    const { kind, credentialId } = home
    if (kind === 'api_key')
      this.#keys.set(credentialId, { workspaceId: home.workspace.id, id: credentialId, at })
    else if (acting.agentId)
      this.#people.set(acting.agentId, { workspaceId: acting.workspace.id, id: acting.agentId, at })
  }

  async flush(sql: Sql): Promise<void> {
    const [keys, people] = [[...this.#keys.values()], [...this.#people.values()]]
    this.#keys = new Map()
    this.#people = new Map()
    if (keys.length > 0) await write(sql, keys, sql`api_keys`, sql`last_used_at`)
    if (people.length > 0) await write(sql, people, sql`agents`, sql`last_active`)
  }
}

const write = (sql: Sql, uses: Use[], table: ReturnType<Sql>, column: ReturnType<Sql>) => sql`
  update ${table} as seen set ${column} = used.at
  from unnest(
    ${uses.map((use) => use.workspaceId)}::text[], ${uses.map((use) => use.id)}::text[],
    ${uses.map((use) => use.at.toISOString())}::text[]::timestamptz[]
  ) as used (workspace_id, id, at)
  where seen.workspace_id = used.workspace_id and seen.id = used.id and coalesce(seen.${column} < used.at, true)`
