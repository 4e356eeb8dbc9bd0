import { AsyncLocalStorage } from 'node:async_hooks'
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import type { Clock } from '../kernel/clock.ts'
import type { Secrets } from '../kernel/context.ts'
import { hashToken } from '../kernel/credentials.ts'
import type { Sql } from '../kernel/sql.ts'
import { findClient } from './clients.ts'

export interface StoreDeps {
  sql: Sql
  clock: Clock
  secrets: Secrets
}

/** When the request that is being answered reached us. */
export const arrival = new AsyncLocalStorage<Date>()

const dayMs = 86_400_000
const refreshDays = 30
export const lifetimes = {
  AccessToken: 3_600,
  AuthorizationCode: 300,
  RefreshToken: refreshDays * 86_400,
  Grant: refreshDays * 86_400,
  Interaction: 3_600,
  Session: 3_600,
  IdToken: 3_600,
}

/** Where the authorization server keeps one kind of record. */
export const storeFor =
  (deps: StoreDeps) =>
  (model: string): Adapter =>
    model === 'Client' ? clientStore(deps) : recordStore(model, deps)

const clientStore = ({ sql }: StoreDeps): Adapter => ({ ...nothing, find: (id) => findClient(sql, id) })

const nothing: Adapter = {
  upsert: async () => {},
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
}

function recordStore(model: string, { sql, clock, secrets }: StoreDeps): Adapter {
  const open = (row: Record<string, string>): AdapterPayload | undefined => {
    const payload = unsealed(secrets, row.sealed_payload!)
    return (
      payload && {
        ...payload,
        // The library reads the system's time; what we keep is by our own clock.
        exp:
          Math.floor(Date.now() / 1_000) +
          Math.ceil((Date.parse(row.expires_at!) - clock.now().getTime()) / 1_000),
        ...(row.consumed_at && { consumed: Math.floor(Date.parse(row.consumed_at) / 1_000) }),
      }
    )
  }

  return {
    ...nothing,

    async upsert(id, payload, expiresIn) {
      const expiresAt = new Date(clock.now().getTime() + expiresIn! * 1_000)
      const row = {
        sealed_payload: secrets.seal(JSON.stringify(payload)),
        grant_hash: payload.grantId ? hashToken(payload.grantId) : null,
        uid_hash: payload.uid ? hashToken(payload.uid) : null,
        account_id: payload.accountId ?? null,
        client_id: payload.clientId ?? null,
        scopes: payload.scope?.split(' ') ?? null,
        expires_at: expiresAt,
      }
      await sql`
        insert into oauth_records ${sql({ model, id_hash: hashToken(id), ...row } as never)}
        on conflict (model, id_hash) do update set ${sql(row as never)}`
      // A grant lives as long as somebody keeps refreshing.
      if (model === 'RefreshToken')
        await sql`
          update oauth_records set expires_at = greatest(expires_at, ${new Date(expiresAt.getTime() + dayMs)})
          where model = 'Grant' and id_hash = ${row.grant_hash}`
    },

    async find(id) {
      const [row] = await sql`
        select sealed_payload, consumed_at, expires_at from oauth_records
        where model = ${model} and id_hash = ${hashToken(id)} and expires_at > ${clock.now()}`
      if (!row) return undefined
      refuseLateTwin(row.consumed_at)
      return open(row)
    },

    async findByUid(uid) {
      const [row] = await sql`
        select sealed_payload, consumed_at, expires_at from oauth_records
        where model = ${model} and uid_hash = ${hashToken(uid)} and expires_at > ${clock.now()}`
      return row && open(row)
    },

    // One statement decides: of any number of requests at once, one gets the row.
    async consume(id) {
      const [taken] = await sql`
        update oauth_records set consumed_at = ${new Date()}
        where model = ${model} and id_hash = ${hashToken(id)} and consumed_at is null returning 1`
      if (!taken) throw new errors.InvalidGrant('already used')
    },

    async destroy(id) {
      await sql`delete from oauth_records where model = ${model} and id_hash = ${hashToken(id)}`
    },

    async revokeByGrantId(grantId) {
      await sql`delete from oauth_records where model = ${model} and grant_hash = ${hashToken(grantId)}`
    },
  }
}

// What was sealed with a key that is gone is as good as unknown: the application has to ask anew.
function unsealed(secrets: Secrets, sealed: string): AdapterPayload | undefined {
  try {
    return JSON.parse(secrets.open(sealed))
  } catch {
    return undefined
  }
}

/*
 * A code or refresh token that is used again later was stolen, or is being guessed at: the library then
 * revokes everything issued for it. A request that was already under way when it was used is a client
 * that sent twice at once, as two tabs do: it is refused, and the tokens of the first stay valid.
 */
function refuseLateTwin(consumedAt: string | null): void {
  const arrivedAt = arrival.getStore()
  if (consumedAt && arrivedAt && arrivedAt < new Date(consumedAt))
    throw new errors.InvalidGrant('already used')
}
