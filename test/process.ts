import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The product as a process of its own, for what only a real process can show. */

const program = fileURLToPath(new URL('../bin/plotbase.js', import.meta.url))

export interface RunningProcess {
  child: ChildProcess
  /** What it has printed so far, both streams. */
  output(): string
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export interface Ports {
  production: number
  sandbox: number
}

/** Starts `plotbase <words>`; nothing of this process's own environment but the path gets in. */
export function plotbase(words: string[], env: Record<string, string>, cwd?: string): RunningProcess {
  const child = spawn(process.execPath, [program, ...words], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd && { cwd }),
  })
  let output = ''
  child.stdout!.on('data', (bytes) => (output += bytes))
  child.stderr!.on('data', (bytes) => (output += bytes))
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal })),
  )
  return { child, output: () => output, exited }
}

/** Runs a command to its end. */
export async function plotbaseOnce(
  words: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const running = plotbase(words, env)
  const { code } = await running.exited
  return { code, output: running.output() }
}

/** Waits until a server answers on the port, and fails with its output when it ends instead. */
export async function untilReady(running: RunningProcess, port: number, withinMs = 90_000): Promise<void> {
  let ended = false
  void running.exited.then(() => (ended = true))
  const deadline = Date.now() + withinMs
  while (Date.now() < deadline) {
    if (ended) throw new Error(`it ended instead of starting:\n${running.output()}`)
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (answer?.status === 200) return
    await new Promise((resume) => setTimeout(resume, 50))
  }
  throw new Error(`not ready in time:\n${running.output()}`)
}

export async function stopped(running: RunningProcess, signal: NodeJS.Signals = 'SIGTERM') {
  running.child.kill(signal)
  return running.exited
}

/** Two ports that were free a moment ago. */
export async function freePorts(): Promise<Ports> {
  return { production: await freePort(), sandbox: await freePort() }
}

// Below those that systems give to outgoing connections: one of a hundred clients would take it before
// the process that it is meant for has started. Each process of the test run has a range of its own.
const rangeSize = 4_000
const rangeStart = 10_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 5) * rangeSize
let nextPort = Math.floor(Math.random() * rangeSize)

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < rangeSize; tries++) {
    const port = rangeStart + (nextPort++ % rangeSize)
    if (await isFree(port)) return port
  }
  throw new Error(`no port is free from ${rangeStart} to ${rangeStart + rangeSize - 1}`)
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

export const portVariables = ({ production, sandbox }: Ports) => ({
  PORT: String(production),
  SANDBOX_PORT: String(sandbox),
})

/** A folder that is gone after the work. */
export async function inFolder<T>(
  work: (folder: string) => Promise<T>,
  prefix = 'plotbase-start-',
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The address of a database on the server of the test run, for processes that get it as DATABASE_URL. */
export function databaseUrl(address: {
  url?: string
  socket?: { host: string; port: number; user: string; database: string }
}): string {
  if (address.url) return address.url
  const { host, port, user, database } = address.socket!
  return `postgres:///${database}?${new URLSearchParams({ host, port: String(port), user })}`
}
