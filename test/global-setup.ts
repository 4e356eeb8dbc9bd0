import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { connect, type DatabaseAddress } from '../src/infra/db.ts'
import { startEmbeddedPostgres } from '../src/infra/embedded-postgres.ts'
import { migrate } from '../src/infra/migrate.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    server: DatabaseAddress
  }
}

export const templateName = 'plotbase_template'

/** One PostgreSQL for the whole run, with a migrated template that every test file clones. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const { address, stop } = await server()
  const admin = connect(address, { max: 1 })
  await admin`drop database if exists ${admin(templateName)} with (force)`
  await admin`create database ${admin(templateName)}`
  await admin.end()
  const template = connect(databaseNamed(address, templateName), { max: 1 })
  await migrate(template)
  await template.end()
  provide('server', address)
  return stop
}

/** The embedded server on a throw-away folder, or the one in TEST_DATABASE_URL. */
async function server(): Promise<{ address: DatabaseAddress; stop: () => Promise<void> }> {
  const url = process.env.TEST_DATABASE_URL
  if (url) return { address: { url }, stop: async () => {} }
  const dataDir = await mkdtemp(join(tmpdir(), 'plotbase-test-'))
  const postgres = await startEmbeddedPostgres({
    dataDir,
    durable: false,
    settings: { max_connections: '200' },
  })
  return {
    address: { socket: postgres.connection },
    stop: async () => {
      await postgres.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export function databaseNamed(address: DatabaseAddress, database: string): DatabaseAddress {
  if (address.socket) return { socket: { ...address.socket, database } }
  const url = new URL(address.url!)
  url.pathname = `/${database}`
  return { url: url.href }
}
