import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { freePorts, plotbase, stopped, untilReady } from '../test/process.ts'

const script = fileURLToPath(new URL('whole-sale.ts', import.meta.url))

it('plays a whole sale against a fresh start', { timeout: 120_000 }, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'plotbase-example-'))
  const ports = await freePorts()
  const key = 'pb_live_exampleexampleexample'
  const running = plotbase([], {
    DATA_DIR: dataDir,
    PORT: String(ports.production),
    SANDBOX_PORT: String(ports.sandbox),
    BOOTSTRAP_API_KEY: key,
  })
  try {
    await untilReady(running, ports.production)
    const env = {
      PATH: process.env.PATH,
      PLOTBASE_KEY: key,
      PLOTBASE_URL: `http://127.0.0.1:${ports.production}`,
    }
    const { stdout } = await promisify(execFile)(process.execPath, [script], { env })
    const told = [...stdout.matchAll(/^ {6,}\d+ {2}(\S+)/gm)].map((match) => match[1])
    expect(told).toEqual([
      'property.created',
      'unit.created',
      'agent.created',
      'lead.created',
      'lead.assigned',
      'lead.stage_changed',
      'lead.updated',
      'lead.stage_changed',
      'lead.stage_changed',
      'lead.stage_changed',
      'lead.won',
      'deal.created',
      'commission.calculated',
      'unit.updated',
      'deal.closed',
      'unit.updated',
      'unit.sold',
      'invoice.created',
    ])
    expect(stdout).toMatch(/Invoice INV-\d{6}: 412500 EUR/)
    expect(stdout).toContain('12375 EUR, earned')
  } finally {
    await stopped(running)
    await rm(dataDir, { recursive: true, force: true })
  }
})
