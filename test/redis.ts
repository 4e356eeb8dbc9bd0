import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { freePort } from './process.ts'

/** A Redis of a test's own, on a port of its own: it may be stopped, killed and started again. */
export class TestRedis {
  readonly port: number
  #server: ChildProcess | undefined

  private constructor(port: number) {
    this.port = port
  }

  static async start(): Promise<TestRedis> {
    const redis = new TestRedis(await freePort())
    await redis.startAgain()
    return redis
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  async startAgain(): Promise<void> {
    const options = { port: this.port, save: '', appendonly: 'no', bind: '127.0.0.1' }
    const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
    this.#server = spawn('redis-server', words, { stdio: 'ignore' })
    for (let tries = 0; tries < 200; tries++) {
      if (await answers(this.port)) return
      await new Promise((resume) => setTimeout(resume, 25))
    }
    throw new Error('redis-server did not start')
  }

  /** It stays connected but answers nothing. */
  pause(): void {
    this.#server!.kill('SIGSTOP')
  }

  resume(): void {
    this.#server!.kill('SIGCONT')
  }

  /** Everything it held is gone. */
  async kill(): Promise<void> {
    const server = this.#server!
    if (server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

/** CI installs it; on other machines the tests that need it are left out. */
export const isRedisInstalled = (process.env.PATH ?? '').split(delimiter).some((folder) => {
  try {
    accessSync(join(folder, 'redis-server'), constants.X_OK)
    return true
  } catch {
    return false
  }
})
