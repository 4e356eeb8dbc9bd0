import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../kernel/start-error.ts'
import { accountFor, chooseLauncher, type Launched, launch } from './embedded-postgres-account.ts'
import {
  createCluster,
  errorCode,
  hasCluster,
  locateBinaries,
  makeSocketDir,
  PORT,
  prepareDataDir,
  removeSocketDir,
  repairOwnership,
  SUPERUSER,
  sweepLeftovers,
} from './embedded-postgres-files.ts'
import {
  type Connection,
  clearTheWay,
  clusterName,
  createDatabase,
  DATABASE,
  holdOwnerLock,
  isReady,
  type OwnerLock,
  shutDown,
} from './embedded-postgres-owner.ts'

export interface EmbeddedPostgres {
  /** Options for postgres.js, which takes a host with a slash for the folder of a Unix socket. */
  readonly connection: Connection
  readonly pid: number
  /** Fast shutdown: open transactions are rolled back, all committed data is on disk afterwards. */
  stop(): Promise<void>
  /** Called once when PostgreSQL ends without having been stopped. */
  onExit(listener: (detail: string) => void): void
}

export interface EmbeddedPostgresOptions {
  dataDir: string
  log?: (line: string) => void
  /** PostgreSQL settings that go before the ones below. */
  settings?: Record<string, string>
  /** False trades safety against power loss for speed; meant for tests. */
  durable?: boolean
}

const READY_WITHIN_MS = 60_000
const RACE_WITHIN_MS = 20_000
const NO_SUCH_DATABASE = '3D000'

interface Place {
  dataDir: string
  cluster: string
}

const defaults = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  shared_buffers: '128MB',
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  log_line_prefix: '[%p] ',
}

const undurable = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { durable = true } = options
  const binaries = locateBinaries()
  const dataDir = await prepareDataDir(options.dataDir)
  const cluster = join(dataDir, 'postgres')
  const account = accountFor(cluster, dataDir)
  const launcher = await chooseLauncher(binaries, dataDir, account)
  if (!(await hasCluster(cluster, dataDir))) {
    await createCluster({ dataDir, cluster, initdb: binaries.initdb, launcher, account, durable })
  }
  await repairOwnership(cluster, dataDir, account)

  const deadline = Date.now() + RACE_WITHIN_MS
  for (;;) {
    await clearTheWay(cluster, dataDir)
    const socketDir = await makeSocketDir(cluster, account)
    const settings = {
      ...defaults,
      ...(durable ? {} : undurable),
      ...options.settings,
      cluster_name: clusterName(),
      unix_socket_directories: `"${socketDir}"`,
      port: String(PORT),
    }
    const server = launch(launcher, binaries.postgres, ['-D', cluster, ...asArguments(settings)], options.log)
    try {
      const running = await takeOver(server, socketDir, { dataDir, cluster })
      await sweepLeftovers(dataDir, cluster, socketDir)
      return running
    } catch (error) {
      await stopServer(server)
      await removeSocketDir(socketDir)
      if (!lostRace(server) || Date.now() > deadline) throw error
      await sleep(100)
    }
  }
}

function asArguments(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Another start got in between, or processes of a killed server are still on their way out. */
function lostRace({ lines }: Launched): boolean {
  return lines.some((line) =>
    /lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(line),
  )
}

/** Waits for the server, and from then on owns it. */
async function takeOver(server: Launched, socketDir: string, place: Place): Promise<EmbeddedPostgres> {
  const connection = { host: socketDir, port: PORT, user: SUPERUSER, database: DATABASE }
  const stopWithUs = () => server.kill('SIGINT')
  process.once('exit', stopWithUs)
  void server.exited.then(() => process.off('exit', stopWithUs))
  await waitUntilReady(server, place)
  return supervise(server, connection, await lockDatabase(connection))
}

async function waitUntilReady(server: Launched, { cluster, dataDir }: Place): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS
  while (!(await isReady(server.pid, cluster, dataDir))) {
    const exit = server.exit()
    if (exit) throw notStarted(exit.detail)
    if (Date.now() > deadline) throw notStarted(`not ready after ${READY_WITHIN_MS / 1000} s`)
    await sleep(10)
  }
}

async function lockDatabase(connection: Connection): Promise<OwnerLock> {
  try {
    return await holdOwnerLock(connection)
  } catch (error) {
    if (errorCode(error) !== NO_SUCH_DATABASE) throw notStarted((error as Error).message)
    await createDatabase(connection)
    return await holdOwnerLock(connection)
  }
}

function notStarted(detail: string): StartError {
  return new StartError(
    `The built-in PostgreSQL did not start (${detail}); repair that, or set DATABASE_URL to another server.`,
  )
}

function supervise(server: Launched, connection: Connection, lock: OwnerLock): EmbeddedPostgres {
  const listeners: ((detail: string) => void)[] = []
  let stopping: Promise<void> | undefined
  let failure: string | undefined
  const cleanedUp = server.exited.then(async ({ reason, detail }) => {
    if (!stopping) failure = `PostgreSQL ended with ${reason}; its last words were: ${detail}`
    await lock.release()
    await removeSocketDir(connection.host)
    for (const listener of listeners) if (failure) listener(failure)
  })
  const stop = async () => {
    await lock.release()
    await stopServer(server)
    await cleanedUp
  }
  return {
    connection,
    pid: server.pid ?? 0,
    stop: () => {
      stopping ??= stop()
      return stopping
    },
    onExit: (listener) => {
      if (failure) queueMicrotask(() => listener(failure ?? ''))
      else listeners.push(listener)
    },
  }
}

async function stopServer(server: Launched): Promise<void> {
  const gone = (withinMs: number) =>
    Promise.race([server.exited.then(() => true), sleep(withinMs, false, { ref: false })])
  await shutDown(server.kill, gone)
}
