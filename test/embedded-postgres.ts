import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../src/infra/embedded-postgres.ts'
import { StartError } from '../src/kernel/start-error.ts'

/** A folder for each test of the embedded server, in one whose name has a space and an umlaut. */

export const checkout = resolve(import.meta.dirname, '..')
export const isRoot = process.getuid?.() === 0
export const isLinux = process.platform === 'linux'
export const NOBODY = 65534

interface Started {
  pid: number
  connection: EmbeddedPostgres['connection']
  error?: string
}

let shelf: string
let template: string
/** One for each test. */
export let folder: string
/** Done after the test, the last first. */
export let cleanups: (() => unknown)[]

beforeAll(async () => {
  shelf = realpathSync(mkdtempSync(join(tmpdir(), 'plotbase test ä-')))
  chmodSync(shelf, 0o755)
  mkdirSync(join(shelf, 'tmp'))
  chmodSync(join(shelf, 'tmp'), 0o1777)
  process.env.TMPDIR = join(shelf, 'tmp')
  template = join(shelf, 'template')
  const server = await startEmbeddedPostgres({ dataDir: template, durable: false })
  await query(server.connection, 'create table note (text text)')
  await server.stop()
})

afterAll(() => {
  delete process.env.TMPDIR
  rmSync(shelf, { recursive: true, force: true })
})

beforeEach(() => {
  cleanups = []
  folder = mkdtempSync(join(shelf, 'case-'))
  chmodSync(folder, 0o755)
})

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
  rmSync(folder, { recursive: true, force: true })
  expect(readdirSync(tmpdir())).toEqual([])
})

/** A data folder with an existing cluster, made faster than by initdb. */
export function copyOfTemplate(dataDir = join(folder, 'data')): string {
  mkdirSync(dirname(dataDir), { recursive: true })
  execFileSync('cp', ['-a', template, dataDir])
  return dataDir
}

export async function start(dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}) {
  const server = await startEmbeddedPostgres({ dataDir, durable: false, ...options })
  cleanups.push(() => server.stop())
  return server
}

export async function failure(dataDir: string): Promise<string> {
  const error = await start(dataDir).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StartError)
  return (error as StartError).message
}

export async function query(connection: EmbeddedPostgres['connection'], text: string) {
  const sql = postgres({ ...connection, max: 1, onnotice: () => {} })
  try {
    return await sql.unsafe(text)
  } finally {
    await sql.end()
  }
}

export async function notes(server: EmbeddedPostgres): Promise<unknown[]> {
  return (await query(server.connection, 'select text from note')).map(({ text }) => text)
}

/** Another Plotbase process. Runs until its standard input is closed. */
export class OtherProcess {
  readonly child: ChildProcess
  readonly ready: Promise<Started>
  readonly exited: Promise<void>

  constructor(dataDir: string, { via = [] as string[], env = {}, root = checkout } = {}) {
    const script = join(shelf, 'other.mjs')
    writeFileSync(
      script,
      `const { startEmbeddedPostgres } = await import(process.argv[2])
      process.on('SIGINT', () => {})
      try {
        const { pid, connection, stop } = await startEmbeddedPostgres({ dataDir: process.argv[3], durable: false })
        console.log(JSON.stringify({ pid, connection }))
        process.stdin.resume().on('end', () => stop().then(() => process.exit()))
      } catch ({ name, message: error }) {
        console.log(JSON.stringify({ pid: 0, error: name + ': ' + error }))
        process.exit(1)
      }`,
    )
    const module = join(root, 'src/infra/embedded-postgres.ts')
    const [file = '', ...args] = [...via, process.execPath, script, module, dataDir]
    const options = { detached: true, env: { ...process.env, ...env }, cwd: '/' }
    this.child = spawn(file, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
    this.exited = new Promise((done) => this.child.once('exit', () => done()))
    this.ready = new Promise((done, fail) => {
      createInterface({ input: this.child.stdout! }).once('line', (line) => done(JSON.parse(line)))
      this.child.once('exit', () => setTimeout(() => fail(new Error('ended without a word')), 500).unref())
    })
    this.ready.catch(() => {})
    cleanups.push(() => this.stop())
  }

  async stop(): Promise<void> {
    this.child.stdin?.end()
    await this.exited
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.exited
  }
}

/** A killed process without a parent that collects it stays in the process table as a zombie. */
export function isRunning(pid: number): boolean {
  try {
    const state = execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
    return !state.startsWith('Z')
  } catch {
    return false
  }
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await condition()) return
    await sleep(20)
  }
  throw new Error('did not happen within 10 s')
}

export const userOf = (pid: number) =>
  Number(execFileSync('ps', ['-o', 'uid=', '-p', String(pid)], { encoding: 'utf8' }).trim())
