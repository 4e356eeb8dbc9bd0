import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  cleanups,
  copyOfTemplate,
  failure,
  folder,
  isLinux,
  isRoot,
  isRunning,
  NOBODY,
  notes,
  OtherProcess,
  query,
  start,
  until,
} from '../../test/embedded-postgres.ts'
import { OWNER_LOCK } from './embedded-postgres-owner.ts'

const WITHOUT_SETPRIV = { PATH: '/nonexistent' }

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
