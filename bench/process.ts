import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A server under measurement, in a process of its own. */
export interface Target {
  origin: string
  pid: number
  stop(): Promise<void>
}

export interface Product extends Target {
  apiKey: string
  dataDir: string
  /** From the start of the process to the first answer of the API. */
  startedInMs: number
}

/** The product with other settings, or from another checkout. */
export interface Variant {
  env?: Record<string, string>
  root?: string
}

const ownRoot = join(import.meta.dirname, '..')
const apiKey = 'pb_live_benchbenchbenchbench'
const startWithinMs = 60_000

export const newDataDir = () => mkdtemp(join(tmpdir(), 'plotbase-bench-'))
export const removeDataDir = (dataDir: string) => rm(dataDir, { recursive: true, force: true })

/** Starts the product as a person would, but for its ports, its folder and its log, which goes to a file. */
export async function startProduct(dataDir: string, variant: Variant = {}): Promise<Product> {
  const { env = {}, root = ownRoot } = variant
  const [port, sandboxPort] = [await freePort(), await freePort()]
  const log = openSync(join(dataDir, `${port}.log`), 'a')
  const begin = performance.now()
  const child = spawn(process.execPath, [...profiling(), ...startArguments(root)], {
    cwd: root,
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: String(port),
      SANDBOX_PORT: String(sandboxPort),
      DATA_DIR: dataDir,
      BOOTSTRAP_API_KEY: apiKey,
      ...env,
    },
    stdio: ['ignore', log, log],
  })
  stopWithUs(child)
  const origin = `http://127.0.0.1:${port}`
  try {
    await answers(child, `${origin}/v1/properties?per_page=1`)
  } catch (error) {
    const said = await readFile(join(dataDir, `${port}.log`), 'utf8')
    throw new Error(`the product did not start: ${said.slice(-2_000)}`, { cause: error })
  }
  const startedInMs = performance.now() - begin
  return { origin, apiKey, dataDir, startedInMs, pid: child.pid!, stop: () => stop(child) }
}

/** What `npm start` gives to Node, flags included. */
function startArguments(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return scripts.start.split(' ').slice(1)
}

// BENCH_PROFILE=folder leaves a .cpuprofile of every product process there.
function profiling(): string[] {
  const folder = process.env.BENCH_PROFILE
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : []
}

async function answers(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + startWithinMs
  while (performance.now() < deadline && child.exitCode === null) {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } }).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.status === 200) return
    await sleep(10)
  }
  await stop(child)
  throw new Error(child.exitCode === null ? 'no answer in time' : `it ended with ${child.exitCode}`)
}

/** A script of this folder that says `{ port }` when it listens, and takes messages from then on. */
export async function startScript(
  script: string,
  ...words: string[]
): Promise<Target & { send(message: object): void }> {
  const child = fork(join(import.meta.dirname, script), words)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    send: (message) => child.send(message),
    stop: () => stop(child),
  }
}

// A suite that fails must not leave servers behind.
function stopWithUs(child: ChildProcess): void {
  const end = () => void child.kill('SIGTERM')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** The most memory the process has held since its start. Zero where there is no /proc. */
export function peakMemoryMb(pid: number): number {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(readProc(pid, 'status')) ?? []
  return Number(kilobytes) / 1_024
}

/** Processor time used so far, by all its threads. The kernel counts it in hundredths of a second. */
export function cpuSeconds(pid: number): number {
  const fields = readProc(pid, 'stat').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100
}

/** Empty where there is no /proc. */
export const childrenOf = (pid: number) =>
  readProc(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number)

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
