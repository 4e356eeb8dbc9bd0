import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, symlinkSync } from 'node:fs'
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { StartError } from '../kernel/start-error.ts'
import { type Account, closedFolder, type Launcher, NAMELESS, run } from './embedded-postgres-account.ts'

export const SUPERUSER = 'plotbase'
export const PORT = 5432

const MAJOR_VERSION = '18'
const UNFINISHED = 'postgres.init-'
// sun_path holds 104 bytes on macOS and 108 on Linux, the closing zero included.
const SOCKET_PATH_LIMIT = 103

export interface Binaries {
  initdb: string
  postgres: string
}

export function locateBinaries(): Binaries {
  if (process.platform === 'win32') {
    throw new StartError(
      'The built-in PostgreSQL is reached over a Unix socket, which Node.js does not have on Windows; ' +
        'set DATABASE_URL to a PostgreSQL server, or run Plotbase inside WSL.',
    )
  }
  const native = join(packageFolder(`@embedded-postgres/${process.platform}-${process.arch}`), 'native')
  restoreLibraryLinks(native)
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
}

function packageFolder(name: string): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch {
    throw new StartError(
      `No built-in PostgreSQL (${name}) is installed for this platform; run "npm install" again without ` +
        '--omit=optional, or set DATABASE_URL to a PostgreSQL server of your own.',
    )
  }
}

/** npm packages hold no symlinks; the package's install script makes them, unless scripts are switched off. */
function restoreLibraryLinks(native: string): void {
  const list = readFileSync(join(native, 'pg-symlinks.json'), 'utf8')
  const links = JSON.parse(list) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(native, '..', target)
    if (lstatSync(path, { throwIfNoEntry: false })) continue
    try {
      symlinkSync(relative(dirname(target), source), path)
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue
      throw new StartError(
        `The library link ${path} is missing and cannot be made (${errorCode(error)}); ` +
          'run "npm rebuild" as the user who installed Plotbase, or set DATABASE_URL.',
      )
    }
  }
}

export async function prepareDataDir(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true })
    return await realpath(dataDir)
  } catch (error) {
    throw folderError(error, dataDir)
  }
}

/** Says whether the cluster exists; refuses one that our PostgreSQL cannot run. */
export async function hasCluster(cluster: string, dataDir: string): Promise<boolean> {
  const version = await readIfPresent(join(cluster, 'PG_VERSION'), dataDir)
  if (version?.trim() === MAJOR_VERSION) return true
  if (version !== undefined) {
    throw new StartError(
      `${cluster} was written by PostgreSQL ${version.trim()}, but this Plotbase runs PostgreSQL ` +
        `${MAJOR_VERSION}; move the data over with pg_dump, or set DATA_DIR to another folder.`,
    )
  }
  if (await isAbsentOrEmpty(cluster, dataDir)) return false
  throw new StartError(
    `${cluster} is not a PostgreSQL data folder but is not empty either; ` +
      'move it away, or set DATA_DIR to another folder.',
  )
}

async function isAbsentOrEmpty(folder: string, dataDir: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true
    throw folderError(error, dataDir)
  }
}

async function readIfPresent(file: string, dataDir: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw folderError(error, dataDir)
  }
}

export interface NewCluster {
  dataDir: string
  cluster: string
  initdb: string
  launcher: Launcher
  account: Account | undefined
  durable: boolean
}

/** Works in a folder of its own until all is there, so that an interrupted run leaves no half cluster. */
export async function createCluster({ dataDir, cluster, account, ...how }: NewCluster): Promise<void> {
  let fresh = ''
  try {
    fresh = await mkdtemp(join(dataDir, UNFINISHED))
    if (account) await lchown(fresh, account.uid, account.gid)
    const options = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    // Trust is enough: the only way in is a socket inside a folder that nobody else may enter.
    options.push('--auth=trust', `--username=${SUPERUSER}`, '--no-instructions')
    if (!how.durable) options.push('--no-sync')
    const { code, detail } = await run(how.launcher, how.initdb, [...options, '-D', fresh])
    if (code !== 0 && detail.includes(NAMELESS)) {
      throw new StartError(
        `PostgreSQL creates a database only for a user with a name, and user ${process.getuid?.()} has none; ` +
          'add it to /etc/passwd, or set DATABASE_URL to a PostgreSQL server of your own.',
      )
    }
    if (code !== 0) {
      throw new StartError(
        `The database could not be created in ${dataDir} (${detail}); ` +
          'make room or repair the folder, or set DATA_DIR to another one.',
      )
    }
    await rename(fresh, cluster)
    if (how.durable) await syncFolder(dataDir)
  } catch (error) {
    if (fresh) await rm(fresh, { recursive: true, force: true })
    // Another process may have been faster; which of the two may go on is decided at the start.
    if (await hasCluster(cluster, dataDir)) return
    throw error instanceof StartError ? error : folderError(error, dataDir)
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A cluster copied back from a backup often belongs to root, or is readable for all; PostgreSQL refuses both. */
export async function repairOwnership(
  cluster: string,
  dataDir: string,
  account: Account | undefined,
): Promise<void> {
  try {
    const stats = await stat(cluster)
    const user = account?.uid ?? process.getuid?.()
    if (!account && stats.uid !== user) {
      throw new StartError(
        `${cluster} belongs to user ${stats.uid}, not to user ${user}; ` +
          'start Plotbase as its owner, or set DATA_DIR to another folder.',
      )
    }
    if (account && stats.uid !== user) await handOver(cluster, account)
    if ((stats.mode & 0o027) !== 0) await chmod(cluster, 0o700)
  } catch (error) {
    throw error instanceof StartError ? error : folderError(error, dataDir)
  }
}

async function handOver(cluster: string, { uid, gid }: Account): Promise<void> {
  const entries = await readdir(cluster, { recursive: true })
  for (const entry of entries) await lchown(join(cluster, entry), uid, gid)
  // The folder itself comes last: an interrupted run is noticed and repeated.
  await lchown(cluster, uid, gid)
}

export async function makeSocketDir(cluster: string, account: Account | undefined): Promise<string> {
  const parent = [tmpdir(), '/tmp'].find((folder) => suitsSocket(folder, cluster, account)) ?? '/tmp'
  try {
    const folder = await mkdtemp(join(parent, socketPrefix(cluster)))
    if (account) await lchown(folder, account.uid, account.gid)
    return folder
  } catch (error) {
    throw new StartError(
      `No folder for the database socket can be made in ${parent} (${errorCode(error)}); ` +
        'make it writable, or set TMPDIR to a folder with a short path.',
    )
  }
}

function suitsSocket(folder: string, cluster: string, account: Account | undefined): boolean {
  const path = join(folder, `${socketPrefix(cluster)}XXXXXX`, `.s.PGSQL.${PORT}`)
  // Commas and colons mean something in lists of hosts and folders.
  if (!path.startsWith('/') || Buffer.byteLength(path) > SOCKET_PATH_LIMIT || /[,:"]/.test(path)) return false
  if (!lstatSync(folder, { throwIfNoEntry: false })) return false
  return !account || closedFolder(folder, account) === undefined
}

function socketPrefix(cluster: string): string {
  return `plotbase-${createHash('sha256').update(cluster).digest('hex').slice(0, 8)}-`
}

/** Takes away exactly what PostgreSQL puts there: the path may come from a file that another user can write. */
export async function removeSocketDir(folder: string): Promise<void> {
  if (!basename(folder).startsWith('plotbase-')) return
  for (const name of [`.s.PGSQL.${PORT}`, `.s.PGSQL.${PORT}.lock`]) {
    await unlink(join(folder, name)).catch(() => {})
  }
  await rmdir(folder).catch(() => {})
}

/** What crashed runs left behind. Only for the one who runs the cluster: then no other run can need any of it. */
export async function sweepLeftovers(dataDir: string, cluster: string, socketDir: string): Promise<void> {
  for (const name of await listNames(dataDir, UNFINISHED)) {
    await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => {})
  }
  const { uid } = await lstat(socketDir)
  const parent = dirname(socketDir)
  for (const name of await listNames(parent, socketPrefix(cluster))) {
    const folder = join(parent, name)
    const stats = await lstat(folder).catch(() => undefined)
    if (folder !== socketDir && stats?.isDirectory() && stats.uid === uid) await removeSocketDir(folder)
  }
}

async function listNames(folder: string, prefix: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => name.startsWith(prefix))
}

const reasons: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a file is in the way',
  EEXIST: 'a file is in the way',
}

export function folderError(error: unknown, dataDir: string): StartError {
  const code = errorCode(error)
  const message = `The data folder ${dataDir} cannot be used (${reasons[code] ?? code}); `
  return new StartError(`${message}make it writable for this user, or set DATA_DIR to another folder.`, {
    cause: error,
  })
}

export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
