import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { connect } from '../../src/infra/db.ts'
import { migrationNames } from '../../src/infra/migrate.ts'
import type { Pool } from '../../src/kernel/sql.ts'
import { databaseNamed } from '../global-setup.ts'
import { cloneTemplate, dropDatabase } from '../harness.ts'
import {
  databaseUrl,
  freePorts,
  plotbase,
  plotbaseOnce,
  portVariables,
  stopped,
  untilReady,
} from '../process.ts'

/** The commands of an operator, on a PostgreSQL of their own, as they would be called from a shell. */
describe('the plotbase command', { timeout: 60_000 }, () => {
  let name = ''
  let sql: Pool
  let env: Record<string, string> = {}

  beforeAll(async () => {
    name = await cloneTemplate('template0')
    const address = databaseNamed(inject('server'), name)
    sql = connect(address, { max: 2 })
    env = { DATABASE_URL: databaseUrl(address), LOG_LEVEL: 'warn' }
  })
  afterAll(async () => {
    await sql.end()
    await dropDatabase(name)
  })

  const json = async (words: string[]) => {
    const { code, output } = await plotbaseOnce([...words, '--json'], env)
    expect(code, output).toBe(0)
    return JSON.parse(output)
  }

  it('migrates once, however many processes begin at the same time', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => json(['migrate'])))
    expect(runs.flatMap(({ applied }) => applied).sort()).toEqual(await migrationNames())
    expect(await json(['migrate'])).toEqual({ applied: [] })
  })

  it('makes workspaces and keys that work, and revokes them on a running server', async () => {
    const workspace = await json([
      'workspace',
      'create',
      '--name',
      'Acme Homes',
      '--plan',
      'enterprise',
      '--currency',
      'EUR',
    ])
    const listed = await json(['workspace', 'list'])
    expect(listed.map((row: { id: string }) => row.id)).toEqual([workspace.id, workspace.sandbox_id])

    const key = await json([
      'keys',
      'create',
      '--workspace',
      workspace.id,
      '--name',
      'ci',
      '--scopes',
      'read:properties',
    ])
    const test = await json([
      'keys',
      'create',
      '--workspace',
      workspace.sandbox_id,
      '--name',
      'ci',
      '--scopes',
      'all',
    ])
    expect(key.key).toMatch(/^pb_live_/)
    expect(test.key).toMatch(/^pb_test_/)
    expect(test.scopes).not.toContain('admin')
    const keys = await json(['keys', 'list', '--workspace', workspace.id])
    expect(keys).toMatchObject([{ id: key.id, name: 'ci', last_four: key.key.slice(-4), revoked_at: null }])
    expect(JSON.stringify(keys)).not.toContain(key.key)

    const ports = await freePorts()
    const server = plotbase(['serve'], { ...env, HOST: '127.0.0.1', ...portVariables(ports) })
    await untilReady(server, ports.production)
    const status = async () => {
      const headers = { authorization: `Bearer ${key.key}` }
      return (await fetch(`http://127.0.0.1:${ports.production}/v1/units`, { headers })).status
    }
    expect(await status()).toBe(200)
    await json(['keys', 'revoke', key.id])
    expect(await status()).toBe(401)
    await stopped(server)
  })

  it('refuses a database that a newer program has migrated', async () => {
    await sql`insert into schema_migrations (name) values ('9999_from_the_future.sql')`
    const { code, output } = await plotbaseOnce(['migrate'], env)
    await sql`delete from schema_migrations where name like '9999%'`
    expect(code).toBe(1)
    expect(output).toMatch(
      /^plotbase: The database was migrated by a newer Plotbase \(it has 9999_from_the_future.sql/,
    )
  })

  it('makes people who can sign in, sets their passwords, resets sandboxes and shows the mail', async () => {
    const workspace = await json(['workspace', 'create', '--name', 'People'])
    const who = ['--email', 'anna@example.com']
    const member = ['--name', 'Anna', '--workspace', workspace.id, '--role', 'admin']
    const anna = await json(['account', 'create', ...who, ...member])
    expect(anna).toMatchObject({ id: expect.stringMatching(/^acct_/), password: expect.any(String) })
    const [listed] = await json(['account', 'list'])
    expect(listed).toMatchObject({ email: 'anna@example.com', name: 'Anna' })
    expect(listed.workspaces).toHaveLength(2)

    const ports = await freePorts()
    const secret = { SECRET_KEY: 'the same on every machine and long enough' }
    const server = plotbase(['serve'], { ...env, ...secret, HOST: '127.0.0.1', ...portVariables(ports) })
    await untilReady(server, ports.production)
    const post = (path: string, body: object) =>
      fetch(`http://127.0.0.1:${ports.production}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const signIn = async (password: string) =>
      (await post('/v1/sessions', { email: 'anna@example.com', password })).status
    expect(await signIn(anna.password)).toBe(201)
    await json(['account', 'set-password', ...who, '--password', 'a new password'])
    expect(await signIn(anna.password)).toBe(401)
    expect(await signIn('a new password')).toBe(201)

    expect((await post('/v1/password-resets', { email: 'anna@example.com' })).status).toBe(202)
    await stopped(server)
    const mail = await plotbaseOnce(['mail', '--json'], { ...env, ...secret })
    expect(JSON.parse(mail.output)).toEqual([
      {
        to: 'anna@example.com',
        subject: 'Set a new password',
        text: expect.stringContaining('/account/reset-password?token='),
        html: expect.stringContaining('<a href='),
        created_at: expect.any(String),
      },
    ])
    expect(await json(['sandbox', 'reset', '--workspace', workspace.id])).toMatchObject([
      { id: workspace.sandbox_id, reset: true },
    ])
  })

  const wrongCalls: [string[], RegExp][] = [
    [['sell'], /there is no command "sell"/],
    [['keys'], /say what to do: create, list or revoke/],
    [['keys', 'create'], /--workspace is required/],
    [['keys', 'revoke', 'key_none'], /there is no key key_none/],
    [['keys', 'list', '--colour'], /colour/],
    [['account'], /say what to do: create, list or set-password/],
    [['account', 'create', '--email', 'nobody'], /--email is not an e-mail address/],
    [['account', 'set-password', '--email', 'nobody@example.com'], /there is no account nobody@example.com/],
    [['sandbox'], /say what to do: reset/],
    [['sandbox', 'reset', '--workspace', 'ws_none'], /there is no sandbox ws_none/],
    [['workspace', 'create', '--name', 'X', '--plan', 'gold'], /--plan must be one of starter/],
    [
      ['workspace', 'create', '--name', 'X', '--currency', 'euro'],
      /--currency must be three capital letters/,
    ],
  ]
  for (const [words, says] of wrongCalls) {
    it(`answers "${words.join(' ')}" with exit code 2 and one line`, async () => {
      const { code, output } = await plotbaseOnce(words, env)
      expect(code).toBe(2)
      expect(output).toMatch(says)
      expect(output.trim().split('\n')).toHaveLength(1)
    })
  }

  for (const command of [
    'start',
    'serve',
    'work',
    'migrate',
    'keys',
    'workspace',
    'account',
    'sandbox',
    'mail',
  ]) {
    it(`explains ${command} with --help`, async () => {
      const { code, output } = await plotbaseOnce([command, '--help'], {})
      expect(code).toBe(0)
      expect(output).toMatch(new RegExp(`^plotbase ${command}`))
      expect(output).toContain('--help')
    })
  }
})
