import { Agent, request } from 'undici'

/** The bar for deliveries: posts the same bytes as often as it can, with the same concurrency, and nothing else. */

const [url, concurrency, seconds, body] = process.argv.slice(2) as [string, string, string, string]
const dispatcher = new Agent({ connections: Number(concurrency), pipelining: 1 })
const headers = {
  'content-type': 'application/json',
  'user-agent': 'Plotbase-Webhooks/1',
  'x-service-timestamp': '1769851800',
  'x-service-signature': `sha256=${'a'.repeat(64)}`,
  'webhook-id': 'evt_01k9x2w8y0a2c4e6g8j0m2p4r6',
  'webhook-timestamp': '1769851800',
  'webhook-signature': `v1,${'a'.repeat(44)}`,
}
const startedAt = performance.now()
const endAt = startedAt + Number(seconds) * 1_000
let posted = 0
await Promise.all(
  Array.from({ length: Number(concurrency) }, async () => {
    while (performance.now() < endAt) {
      const answer = await request(url, { method: 'POST', headers, body, dispatcher })
      await answer.body.dump()
      posted++
    }
  }),
)
const { user, system } = process.cpuUsage()
process.send!({
  perSecond: posted / ((performance.now() - startedAt) / 1_000),
  cpuMicroseconds: (user + system) / posted,
})
process.disconnect()
