// @ts-expect-error it has no types
import autocannon from 'autocannon'

/** Asks as often as it is told, in a process of its own. */
process.on('message', async ({ url, key, amount }: { url: string; key: string; amount: number }) => {
  const headers = { authorization: `Bearer ${key}` }
  const { '2xx': answered } = await autocannon({ url, headers, amount, connections: 8 })
  process.send!({ answered })
})
