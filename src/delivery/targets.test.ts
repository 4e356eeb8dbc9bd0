import { beforeEach, describe, expect, it } from 'vitest'
import { createWebhook, deliveriesOf, useDelivering } from '../../test/delivering.ts'
import { createProperty } from '../../test/fixtures.ts'
import { useHarness } from '../../test/harness.ts'
import { asNetwork, blockListOf, isForbidden } from '../kernel/networks.ts'
import { createCourier } from './courier.ts'
import type { Resolve } from './resolve.ts'

const harness = useHarness()
const { scenario } = harness
const delivering = useDelivering(harness)

const leadingTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

const open = leadingTo('93.184.215.14')
beforeEach(() => {
  harness.resolve = open
})

const refused = async (url: string) => {
  const { body } = await scenario({
    post: '/v1/webhooks',
    body: { url, events: ['*'] },
    status: 422,
    wrong: ['url'],
  })
  expect(body.error.details[0].message).toContain('private')
}

// 127.0.0.0/8 is open in tests, so the disguises are those of 10.0.0.1 and its like.
describe('a URL is refused when its host is', () => {
  it.each([
    ['a private address', 'http://10.0.0.1/'],
    ['with a port and a path', 'https://10.0.0.1:8443/x?y=z'],
    ['decimal', 'http://167772161/'],
    ['octal', 'http://012.0.0.01/'],
    ['hexadecimal', 'http://0xa.0x0.0x0.0x1/'],
    ['hexadecimal in one', 'http://0x0a000001/'],
    ['short', 'http://10.1/'],
    ['percent-encoded', 'http://%31%30.0.0.1/'],
    ['in other digits', 'http://①⓪.⓪.⓪.①/'],
    ['in capitals and full stops of another script', 'http://10。0。0。1/'],
    ['mapped to IPv6', 'http://[::ffff:10.0.0.1]/'],
    ['mapped to IPv6 in hex', 'http://[::ffff:a00:1]/'],
    ['mapped, written out', 'http://[0:0:0:0:0:ffff:a00:1]/'],
    ['compatible with IPv6', 'http://[::10.0.0.1]/'],
    ['behind NAT64', 'http://[64:ff9b::10.0.0.1]/'],
    ['behind NAT64 of its own', 'http://[64:ff9b:1::a00:1]/'],
    ['behind 6to4', 'http://[2002:a00:1::]/'],
    ['behind Teredo', 'http://[2001:0:a00:1::]/'],
    ['link-local, where clouds keep their keys', 'http://169.254.169.254/latest/meta-data/'],
    ['link-local in decimal', 'http://2852039166/'],
    ['carrier-grade NAT', 'http://100.64.0.1/'],
    ['172.16', 'http://172.31.255.255/'],
    ['192.168', 'http://192.168.1.1/'],
    ['of this network', 'http://0.0.0.0/'],
    ['multicast', 'http://224.0.0.1/'],
    ['broadcast', 'http://255.255.255.255/'],
    ['reserved', 'http://240.0.0.1/'],
    ['for benchmarks', 'http://198.18.0.1/'],
    ['for documentation', 'http://203.0.113.7/'],
    ['IPv6 loopback', 'http://[::1]/'],
    ['IPv6 nothing', 'http://[::]/'],
    ['IPv6 unique local', 'http://[fd12:3456:789a::1]/'],
    ['IPv6 link-local', 'http://[fe80::1]/'],
    ['IPv6 site-local', 'http://[fec0::1]/'],
    ['IPv6 multicast', 'http://[ff02::1]/'],
    ['IPv6 documentation', 'http://[2001:db8::1]/'],
    ['IPv6 metadata', 'http://[fd00:ec2::254]/'],
  ])('%s', (_what, url) => refused(url))

  it.each([
    ['to a private address', ['10.0.0.1']],
    ['to a public and a private one', ['93.184.215.14', '10.0.0.1']],
    ['to IPv6 loopback', ['::1']],
    ['to a mapped address', ['::ffff:10.0.0.1']],
  ])('a name that leads %s', async (_what, addresses) => {
    harness.resolve = leadingTo(...addresses)
    await refused('https://hooks.example.com/')
    const { id } = await createWebhook(harness, 'http://127.0.0.1:1/')
    await scenario({
      put: `/v1/webhooks/${id}`,
      body: { url: 'https://hooks.example.com/' },
      status: 422,
      wrong: ['url'],
    })
  })
})

describe('a URL is accepted when its host is', () => {
  it.each([
    'https://93.184.215.14/',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    'https://[64:ff9b::93.184.215.14]/',
    'https://hooks.example.com:8443/path',
    'http://127.0.0.1:9/',
  ])('%s', (url) => createWebhook(harness, url))

  it('a name that does not resolve yet', async () => {
    harness.resolve = async () => {
      throw Object.assign(new Error('not found'), { code: 'ENOTFOUND', syscall: 'queryA' })
    }
    await createWebhook(harness, 'https://soon.example.com/')
  })
})

describe('a delivery', () => {
  const attemptTo = async (url: string) => {
    const { id } = await createWebhook(harness, url, { events: ['property.created'] })
    await createProperty(harness)
    await delivering.settle()
    await harness.sql`update webhooks set active = false`
    return (await deliveriesOf(harness, id))[0]
  }

  it('goes to the address that was vetted, whatever the name', async () => {
    const receiver = await delivering.receiver()
    harness.resolve = leadingTo('127.0.0.1')
    const url = `http://anything.example.com:${receiver.port}/hook`
    expect(await attemptTo(url)).toMatchObject({ status: 'delivered' })
    expect(receiver.received[0]!.headers.host).toBe(`anything.example.com:${receiver.port}`)
  })

  it('is not made to a name that changed its answer', async () => {
    const answers = ['93.184.215.14', '10.0.0.1']
    harness.resolve = async () => [{ address: answers.shift() ?? '10.0.0.1', family: 4 }]
    expect(await attemptTo('http://rebind.example.com/')).toMatchObject({
      status: 'failed',
      response_code: null,
      error: expect.stringContaining('private'),
    })
  })

  it('is looked up once per connection: the answer that is vetted is the one that is used', async () => {
    const receiver = await delivering.receiver()
    let lookups = 0
    harness.resolve = async () => {
      lookups++
      // Every answer after the first would be refused.
      return [{ address: lookups <= 2 ? '127.0.0.1' : '10.0.0.1', family: 4 }]
    }
    const url = `http://once.example.com:${receiver.port}/hook`
    expect(await attemptTo(url)).toMatchObject({ status: 'delivered' })
    expect(lookups).toBe(2)
  })

  it('is not made to an address that was allowed when the webhook was saved', async () => {
    const strict = createCourier({ clock: harness.clock, timeoutMs: 500, allowedNetworks: [], resolve: open })
    const event = { id: 'evt_1', name: 'unit.sold', at: '', workspaceId: 'ws_1', data: '{}' }
    const letter = { format: 'current' as const, secret: 'x', previousSecret: null, event }
    const receiver = await delivering.receiver()
    for (const url of [receiver.url, 'http://[::ffff:127.0.0.1]:1/', 'http://2130706433/']) {
      const { attempt } = await strict.deliver({ ...letter, url })
      expect(attempt).toMatchObject({ response_code: null, error: expect.stringContaining('private') })
    }
    expect(receiver.received).toEqual([])
    await strict.close()
  })
})

describe('WEBHOOK_ALLOWED_NETWORKS', () => {
  it('opens what it names, in every form of the address, and nothing else', () => {
    const allowed = blockListOf(['10.1.0.0/16', 'fd00::/8'])
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::a01:203', 'fd12::1'])
      expect(isForbidden(address, allowed), address).toBe(false)
    for (const address of ['10.2.0.1', '::ffff:10.2.0.1', 'fc00::1', '127.0.0.1', 'fe80::1%eth0', 'x'])
      expect(isForbidden(address, allowed), address).toBe(true)
  })

  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['::1', '::1/128'],
    ['127.0.0.1', '127.0.0.1/32'],
    ['10.0.0.0/33', undefined],
    ['10.0.0/8', undefined],
    ['fd00::/129', undefined],
    ['10.0.0.0/8/8', undefined],
    ['localhost', undefined],
    ['', undefined],
  ])('reads %s', (text, network) => expect(asNetwork(text)).toBe(network))
})
