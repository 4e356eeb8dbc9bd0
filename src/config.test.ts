import { describe, expect, it } from 'vitest'
import { loadConfig } from './config.ts'

const webhooks = (env: Record<string, string>) => loadConfig(env).webhooks
const outside = { DATABASE_URL: 'postgres://u:p@db/plotbase' }

describe('the settings of webhooks', () => {
  it('have their defaults', () => {
    expect(webhooks({})).toEqual({
      retryDelaysMs: [300_000, 1_800_000, 7_200_000, 86_400_000],
      timeoutMs: 5_000,
      allowedNetworks: ['127.0.0.0/8', '::1/128'],
      concurrency: 256,
      concurrencyPerHost: 32,
    })
  })

  it('open loopback in local mode on a loopback address alone', () => {
    expect(webhooks({ HOST: '0.0.0.0' }).allowedNetworks).toEqual([])
    expect(webhooks(outside).allowedNetworks).toEqual([])
    expect(webhooks({ ...outside, HOST: '127.0.0.1' }).allowedNetworks).toEqual([])
    expect(webhooks({ HOST: 'localhost' }).allowedNetworks).toHaveLength(2)
  })

  it('are read with their units', () => {
    const read = webhooks({
      WEBHOOK_RETRY_DELAYS: '500ms, 2s,3m,1h,1d',
      WEBHOOK_TIMEOUT: '750ms',
      WEBHOOK_ALLOWED_NETWORKS: '10.1.0.0/16, fd00::/8,192.168.0.7',
    })
    expect(read.retryDelaysMs).toEqual([500, 2_000, 180_000, 3_600_000, 86_400_000])
    expect(read.timeoutMs).toBe(750)
    expect(read.allowedNetworks).toEqual(['10.1.0.0/16', 'fd00::/8', '192.168.0.7/32'])
  })

  it.each([
    ['WEBHOOK_RETRY_DELAYS', '5m,,1h'],
    ['WEBHOOK_RETRY_DELAYS', '5'],
    ['WEBHOOK_TIMEOUT', '0s'],
    ['WEBHOOK_TIMEOUT', 'soon'],
    ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/40'],
    ['WEBHOOK_ALLOWED_NETWORKS', 'localhost'],
    ['WEBHOOK_CONCURRENCY', '0'],
    ['WORKER_PORT', '70000'],
  ])('stop the start when %s is %s', (name, value) => {
    expect(() => loadConfig({ [name]: value })).toThrow(`${name} is not valid: it must be`)
  })
})
