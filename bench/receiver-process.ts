import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * The receiver of the delivery bench: answers every post with 200 and nothing else. Told `reset`, it
 * counts from zero; asked for its `tally`, it says how many came, over what time, and how late each
 * was by the timestamp in its payload.
 */

let latencies: number[] = []
let firstAt = 0
let lastAt = 0
const timestamp = /"timestamp":"([^"]+)"/

const server = createServer((request, response) => {
  let start = ''
  request.on('data', (chunk: Buffer) => {
    if (start === '') start = chunk.toString('latin1', 0, 200)
  })
  request.on('end', () => {
    lastAt = performance.timeOrigin + performance.now()
    if (latencies.length === 0) firstAt = lastAt
    latencies.push(lastAt - Date.parse(timestamp.exec(start)?.[1] ?? ''))
    response.end()
  })
})
server.keepAliveTimeout = 60_000

process.on('message', (message: string) => {
  if (message === 'reset') latencies = []
  if (message === 'tally') process.send!({ received: latencies.length, overMs: lastAt - firstAt, latencies })
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
