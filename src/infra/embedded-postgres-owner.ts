import { execFile } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { StartError } from '../kernel/start-error.ts'
import { errorCode, folderError, PORT, removeSocketDir, SUPERUSER } from './embedded-postgres-files.ts'

/** Session lock in database `plotbase`, held for as long as a Plotbase process uses the server. */
export const OWNER_LOCK = 7_201_350_001
export const DATABASE = 'plotbase'

const OWNER_NAME = 'plotbase owner pid '
const CLUSTER_NAME = 'plotbase-'
const PATIENCE_MS = 10_000

export interface Connection {
  host: string
  port: number
  user: string
  database: string
}

interface LockFile {
  text: string
  pid: number
  port: number
  socketDir: string
  status: string
}

interface ProcessInfo {
  parent: number
  /** On systems without /proc all in one string. */
  command: string[]
}

/** Tells later starts whose server this is: see `starterOf`. */
export const clusterName = (): string => `${CLUSTER_NAME}${process.pid}`

/**
 * Makes the cluster free to start: refuses while another Plotbase uses it, stops a server that a killed
 * Plotbase left behind, and makes a lock file of a dead server harmless.
 */
export async function clearTheWay(cluster: string, dataDir: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const lock = await readLockFile(cluster, dataDir)
    if (!lock) return
    const server = await findServer(lock.pid, cluster)
    if (!server) return await disarmLockFile(cluster, dataDir, lock)
    const starter = starterOf(server)
    const owner = await askForOwner(lock)
    if (owner) throw inUse(owner, dataDir)
    if (!starter) await stopOrphan(lock, cluster, dataDir)
    // The starter lives and holds no lock: it is just starting or stopping, so give it the time to finish.
    else if (Date.now() > deadline) throw inUse(starter, dataDir)
    else await sleep(100)
  }
}

function inUse(pid: number, dataDir: string): StartError {
  return new StartError(
    `Another Plotbase process (pid ${pid}) is already using ${dataDir}; ` +
      'stop it first, or set DATA_DIR to another folder.',
  )
}

async function readLockFile(cluster: string, dataDir: string): Promise<LockFile | undefined> {
  const file = join(cluster, 'postmaster.pid')
  try {
    const text = await readFile(file, 'utf8')
    const [pid, , , port, socketDir = '', , , status = ''] = text.split('\n')
    const number = Math.abs(Number(pid))
    if (number > 0) return { text, pid: number, port: Number(port) || PORT, socketDir, status: status.trim() }
    // Empty: a server is just writing it, or the machine lost power at that moment, which PostgreSQL cannot tell.
    if (Date.now() - (await stat(file)).mtimeMs > 5_000) await unlink(file)
    return undefined
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw folderError(error, dataDir)
  }
}

/** Asks the file, as pg_ctl does: every connection refused during start-up would be a FATAL line in the log. */
export async function isReady(pid: number | undefined, cluster: string, dataDir: string): Promise<boolean> {
  const lock = await readLockFile(cluster, dataDir)
  return lock?.pid === pid && lock?.status === 'ready'
}

/**
 * PostgreSQL believes any live process of its user to be the old server, even when the number has gone to
 * another program. It takes its parent's number, ours, for a stale one, and unlike with a deleted lock file
 * it still looks whether processes of the old server are attached to the shared memory named further down.
 */
async function disarmLockFile(cluster: string, dataDir: string, lock: LockFile): Promise<void> {
  const current = await readLockFile(cluster, dataDir)
  if (current?.text !== lock.text) return
  try {
    await writeFile(join(cluster, 'postmaster.pid'), lock.text.replace(/^-?\d+/, String(process.pid)))
  } catch (error) {
    throw folderError(error, dataDir)
  }
  await removeSocketDir(lock.socketDir)
}

async function findServer(pid: number, cluster: string): Promise<ProcessInfo | undefined> {
  const info = process.platform === 'linux' ? readProc(pid) : await askPs(pid)
  return info && servesCluster(info.command, cluster) ? info : undefined
}

function servesCluster(command: string[], cluster: string): boolean {
  if (process.platform !== 'linux') return command.some((text) => text.includes(`postgres -D ${cluster} `))
  if (basename(command[0] ?? '') !== 'postgres') return false
  const folder = command[command.indexOf('-D') + 1] ?? ''
  try {
    return folder === cluster || realpathSync(folder) === cluster
  } catch {
    return false
  }
}

function readProc(pid: number): ProcessInfo | undefined {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return { command, parent: Number(parent) }
  } catch {
    return undefined
  }
}

async function askPs(pid: number): Promise<ProcessInfo | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'ppid=,command=', '-p', String(pid)])
    const [, parent, command = ''] = /^\s*(\d+)\s+(.*)/.exec(stdout) ?? []
    return { command: [command], parent: Number(parent) }
  } catch {
    return undefined
  }
}

/** The process that started the server, provided it is still alive: an orphan has been given a new parent. */
function starterOf({ command, parent }: ProcessInfo): number | undefined {
  const starter = /cluster_name=plotbase-(\d+)/.exec(command.join(' '))?.[1]
  return Number(starter) === parent ? parent : undefined
}

async function askForOwner({ socketDir, port }: LockFile): Promise<number | undefined> {
  if (!socketDir) return undefined
  const sql = connect({ host: socketDir, port, user: SUPERUSER, database: 'postgres' }, {})
  try {
    const rows = await sql<{ name: string }[]>`
      select activity.application_name as name
      from pg_locks as held join pg_stat_activity as activity on activity.pid = held.pid
      where held.locktype = 'advisory' and held.granted and activity.datname = ${DATABASE}
        and (held.classid::bigint << 32 | held.objid::bigint) = ${OWNER_LOCK}`
    return rows[0] && Number(rows[0].name.replace(OWNER_NAME, ''))
  } catch {
    // Starting up, shutting down, or out of connections: no answer, so the parent of the server decides.
    return undefined
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function stopOrphan(lock: LockFile, cluster: string, dataDir: string): Promise<void> {
  const gone = async (withinMs: number) => {
    const deadline = Date.now() + withinMs
    while (await findServer(lock.pid, cluster)) {
      if (Date.now() > deadline) return false
      await sleep(20)
    }
    return true
  }
  const stopped = await shutDown((signal) => signalIfAlive(lock.pid, signal), gone)
  if (!stopped) {
    throw new StartError(
      `A PostgreSQL server (pid ${lock.pid}) that an earlier Plotbase left behind still uses ${dataDir} and ` +
        'does not stop; end that process, or set DATA_DIR to another folder.',
    )
  }
  await removeSocketDir(lock.socketDir)
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Gone, or not ours to signal; the caller looks which.
  }
}

/** Fast shutdown, then immediate, then none at all: what the last two skip is made up for by crash recovery. */
export async function shutDown(
  kill: (signal: NodeJS.Signals) => void,
  gone: (withinMs: number) => Promise<boolean>,
): Promise<boolean> {
  for (const [signal, patienceMs] of [['SIGINT', 8_000] as const, ['SIGQUIT', 3_000] as const]) {
    kill(signal)
    if (await gone(patienceMs)) return true
  }
  kill('SIGKILL')
  return await gone(3_000)
}

export interface OwnerLock {
  release(): Promise<void>
}

/** Takes the lock, and takes it again when a crash of one server process has made the server drop all sessions. */
export async function holdOwnerLock(connection: Connection): Promise<OwnerLock> {
  let state: 'new' | 'held' | 'retaking' | 'released' = 'new'
  const sql = connect(connection, {
    connection: { application_name: `${OWNER_NAME}${process.pid}` },
    onclose: () => {
      if (state === 'held') void retake()
    },
  })
  const take = () => sql`select pg_advisory_lock(${OWNER_LOCK})`
  const retake = async () => {
    state = 'retaking'
    while (state === 'retaking') {
      await sleep(100)
      await take().then(
        () => {
          if (state === 'retaking') state = 'held'
        },
        () => {},
      )
    }
  }
  try {
    await take()
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
  state = 'held'
  return {
    release: async () => {
      state = 'released'
      await sql.end({ timeout: 1 })
    },
  }
}

export async function createDatabase(connection: Connection): Promise<void> {
  const sql = connect({ ...connection, database: 'postgres' }, {})
  try {
    await sql`create database ${sql(connection.database)}`
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** One connection without time limits; postgres.js would otherwise replace it after half an hour. */
function connect(connection: Connection, options: postgres.Options<Record<string, never>>): postgres.Sql {
  return postgres({
    ...connection,
    ...options,
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 3,
    ssl: false,
    fetch_types: false,
    onnotice: () => {},
  })
}
