import { answerOf, startFilledProduct } from './filled.ts'
import { interleaved, type Measured, ratio, spread, startLoad, warmUp } from './load.ts'
import { type Operation, operations, reads, requestsOf } from './operations.ts'
import { peakMemoryMb, startScript } from './process.ts'
import { median, progress, type Row, type Table } from './report.ts'

const mostMemoryMb = 200

/** How much of what a bare server does on the same database is left once the product has done everything else. */
export async function measureApi(): Promise<Table> {
  const filled = await startFilledProduct()
  const { product, data, headers } = filled
  const fastify = await startScript('bare.ts', 'fastify', JSON.stringify(filled.settings))
  const http = await startScript('bare.ts', 'http')
  const load = startLoad()
  const rows: Row[] = []
  try {
    for (const operation of reads)
      await warmUp(load, [product, fastify], headers, requestsOf(operation, data, 0))
    for (const operation of operations) {
      progress(`api: ${operation.name}`)
      const requests = (run: number) => requestsOf(operation, data, run)
      http.send({ answer: await answerOf(filled, requests(0)[0]![0]!) })
      rows.push(rowOf(operation, await interleaved(load, { product, fastify, http }, headers, requests)))
    }
    rows.push(memoryRow(peakMemoryMb(product.pid)))
  } finally {
    progress('')
    load.stop()
    await Promise.all([fastify.stop(), http.stop()])
    await filled.close()
  }
  return {
    title: 'API: share of the requests a second that a bare server does',
    columns: [
      '',
      'of Fastify',
      'middle half',
      'goal',
      'of node:http',
      'per second',
      'Fastify',
      'CPU µs',
      'Fastify',
    ],
    rows,
    notes: [
      'of Fastify    a bare route that runs the same statement with the same driver and sends the rows as JSON',
      'of node:http  a server that sends the same bytes and does nothing else',
      'CPU µs        processor time of the server process for one request',
    ],
  }
}

type Compared = Record<'product' | 'fastify' | 'http', Measured>

function rowOf({ name, goal }: Operation, { product, fastify, http }: Compared): Row {
  const share = ratio(product, fastify)
  const perSecond = ({ perSecond }: Measured) => Math.round(median(perSecond))
  return {
    cells: [
      name,
      share.toFixed(2),
      spread(product, fastify),
      `>= ${goal}`,
      ratio(product, http).toFixed(2),
      perSecond(product),
      perSecond(fastify),
      Math.round(product.cpuMicroseconds),
      Math.round(fastify.cpuMicroseconds),
    ],
    met: share >= goal,
  }
}

const memoryRow = (peakMb: number): Row => ({
  cells: [
    'peak memory of the process',
    `${Math.round(peakMb)} MB`,
    '',
    `< ${mostMemoryMb} MB`,
    '',
    '',
    '',
    '',
    '',
  ],
  met: peakMb < mostMemoryMb,
})
