import { spawn } from 'node:child_process'
import { chmodSync, readFileSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../kernel/start-error.ts'

/** The unprivileged user that runs PostgreSQL when we are root, which PostgreSQL refuses to be. */
export interface Account {
  uid: number
  gid: number
}

export interface Launcher {
  prefix: string[]
  account: Account | undefined
}

export interface Launched {
  readonly pid: number | undefined
  readonly lines: readonly string[]
  readonly exited: Promise<Exit>
  exit(): Exit | undefined
  kill(signal: NodeJS.Signals): void
}

export interface Exit {
  code: number | null
  reason: string
  /** What it said about it. */
  detail: string
}

const KEPT_LINES = 40
const NOBODY = 65534
export const NAMELESS = 'could not look up effective user ID'

// PostgreSQL runs in a session of its own, because Ctrl-C in a terminal reaches the whole foreground group
// and PostgreSQL would cut every connection while our requests are still being answered. The price is that
// it outlives a `kill -9` of our process. On Linux the kernel is asked to send SIGINT, a fast shutdown, when
// the thread that started it ends: so start it from the main thread. Elsewhere, and without setpriv, the
// orphan stays until the next start, which finds and stops it.
const DIE_WITH_PARENT = ['setpriv', '--pdeathsig', 'INT']

/** The owner of the cluster, else that of the data folder, else nobody. */
export function accountFor(cluster: string, dataDir: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  return ownerOf(cluster) ?? knownOwnerOf(dataDir) ?? nobody()
}

function ownerOf(folder: string): Account | undefined {
  const stats = statSync(folder, { throwIfNoEntry: false })
  return stats && stats.uid !== 0 ? { uid: stats.uid, gid: stats.gid } : undefined
}

/** A folder mounted into a container often belongs to a user without a name, as whom initdb does not run. */
function knownOwnerOf(folder: string): Account | undefined {
  const owner = ownerOf(folder)
  return owner && listUsers().some(([, , uid]) => Number(uid) === owner.uid) ? owner : undefined
}

function nobody(): Account {
  const [, , uid, gid] = listUsers().find(([name]) => name === 'nobody') ?? []
  return { uid: Number(uid) || NOBODY, gid: Number(gid) || NOBODY }
}

function listUsers(): string[][] {
  return readPasswd()
    .split('\n')
    .map((line) => line.split(':'))
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    return ''
  }
}

/** Finds a way to run PostgreSQL as the account, and proves it: initdb --show looks for all it needs and changes nothing. */
export async function chooseLauncher(
  binaries: { initdb: string; postgres: string },
  dataDir: string,
  account: Account | undefined,
): Promise<Launcher> {
  if (account) openBinaries(Object.values(binaries), account)
  const closed =
    account && (closedFolder(dirname(binaries.postgres), account) ?? closedFolder(dataDir, account))
  let failure = ''
  for (const candidate of account && closed ? [throughClosedFolders(account)] : directly(account)) {
    const probe = await run(candidate, binaries.initdb, ['--show', '-D', dataDir])
    // Someone without a name may still run a cluster that exists.
    if (probe.code === 0 || probe.detail.includes(NAMELESS)) return candidate
    failure = probe.detail
  }
  if (account && closed) {
    throw new StartError(
      `PostgreSQL runs as user ${account.uid} because it refuses to run as root, and that user cannot enter ` +
        `${closed}; run "chmod o+x '${closed}'", or move Plotbase and DATA_DIR to another folder.`,
    )
  }
  throw new StartError(
    `The built-in PostgreSQL does not run on this system (${failure}); ` +
      'set DATABASE_URL to a PostgreSQL server of your own.',
  )
}

function directly(account: Account | undefined): Launcher[] {
  const plain = { prefix: [], account }
  return process.platform === 'linux' ? [{ prefix: DIE_WITH_PARENT, account }, plain] : [plain]
}

/**
 * For a clone below a private folder such as /root: may read and enter everything, write only its own.
 * Without the secure bit access(2), by which PostgreSQL looks at its own program, leaves the capability out.
 */
function throughClosedFolders({ uid, gid }: Account): Launcher {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  const capability = [
    '--securebits=+no_setuid_fixup',
    '--inh-caps=+dac_read_search',
    '--ambient-caps=+dac_read_search',
  ]
  return { prefix: [...DIE_WITH_PARENT, ...identity, ...capability], account: undefined }
}

/** The outermost folder on the way to this one, itself included, that the account may not enter. */
export function closedFolder(folder: string, account: Account): string | undefined {
  const parent = dirname(folder)
  const above = parent === folder ? undefined : closedFolder(parent, account)
  return above ?? (mayExecute(statSync(folder), account) ? undefined : folder)
}

function mayExecute(stats: Stats, { uid, gid }: Account): boolean {
  if (stats.uid === uid) return (stats.mode & 0o100) !== 0
  if (stats.gid === gid) return (stats.mode & 0o010) !== 0
  return (stats.mode & 0o001) !== 0
}

/** An install under umask 077 leaves them executable for root alone, and no capability to read changes that. */
function openBinaries(files: string[], account: Account): void {
  for (const file of files) {
    if (!mayExecute(statSync(file), account)) chmodSync(file, 0o755)
  }
}

export async function run(launcher: Launcher, binary: string, args: string[]): Promise<Exit> {
  try {
    return await launch(launcher, binary, args).exited
  } catch (error) {
    return failedToRun(error as Error)
  }
}

export function launch(
  { prefix, account }: Launcher,
  binary: string,
  args: string[],
  log?: (line: string) => void,
): Launched {
  const [file = binary, ...rest] = [...prefix, binary, ...args]
  const child = spawn(file, rest, {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(),
    ...account,
  })
  const lines: string[] = []
  const keep = (line: string) => {
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    log?.(line)
  }
  for (const stream of [child.stdout, child.stderr]) readLines(stream, keep)
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let exit: Exit | undefined
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve(failedToRun(error)))
    child.once('exit', async (code, signal) => {
      // Server processes that outlive a killed postmaster for a moment hold the pipe open.
      await Promise.race([closed, sleep(200)])
      const reason = signal ? `signal ${signal}` : `exit code ${code}`
      resolve({ code, reason, detail: essence(lines) || reason })
    })
  }).then((value) => {
    exit = value
    return value
  })
  return { pid: child.pid, lines, exited, exit: () => exit, kill: (signal) => void child.kill(signal) }
}

function failedToRun({ message }: Error): Exit {
  return { code: null, reason: message, detail: message }
}

/** Nothing of ours: neither PG* variables that would change its mind, nor secrets readable in /proc. */
function environment(): Record<string, string> {
  const { PATH = '/usr/bin:/bin', LD_LIBRARY_PATH } = process.env
  return { PATH, LC_ALL: 'C', TZ: 'UTC', ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) }
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream }).on('line', (line) => {
    if (line.trim()) onLine(line)
  })
}

function essence(lines: readonly string[]): string {
  const telling = lines.filter((line) => /FATAL|PANIC|ERROR|HINT|error:|could not/.test(line))
  const chosen = telling.length > 0 ? telling : lines
  const plain = chosen.slice(-2).map((line) => line.replace(/^.*?\[\d+\]/, ''))
  return plain.join(' ').replace(/\s+/g, ' ').trim()
}
