import { Counter, Gauge, Histogram, Registry } from 'prom-client'

export interface Depth {
  /** Deliveries that are due and not being tried. */
  due: number
  /** Deliveries that wait for a later attempt. */
  later: number
  /** Events that have not been fanned out. */
  events: number
  /** How long the oldest event, and the oldest of the deliveries that are due, has waited. */
  oldestEventSeconds: number
  oldestDueSeconds: number
}

/** What an operator graphs of the deliveries. */
export interface DeliveryMetrics {
  registry: Registry
  attempted(result: string, durationMs: number): void
  firstAttemptAfter(ms: number): void
  depth(depth: Depth): void
}

export function createDeliveryMetrics(): DeliveryMetrics {
  const registry = new Registry()
  const registers = [registry]
  const attempts = new Counter({
    name: 'plotbase_delivery_attempts_total',
    help: 'Attempts to deliver, by what became of them.',
    labelNames: ['result'],
    registers,
  })
  const seconds = new Histogram({
    name: 'plotbase_delivery_attempt_seconds',
    help: 'Time that receivers took.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  })
  const latency = new Histogram({
    name: 'plotbase_delivery_latency_seconds',
    help: 'Time from the change to the first attempt to tell of it.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  })
  const queue = new Gauge({
    name: 'plotbase_delivery_queue',
    help: 'What waits: events not yet fanned out, deliveries that are due, and those due later.',
    labelNames: ['kind'],
    registers,
  })
  const oldest = new Gauge({
    name: 'plotbase_delivery_oldest_waiting_seconds',
    help: 'How long the oldest event or delivery that is due has waited.',
    registers,
  })
  return {
    registry,
    attempted(result, durationMs) {
      attempts.inc({ result })
      seconds.observe(durationMs / 1_000)
    },
    firstAttemptAfter: (ms) => latency.observe(Math.max(0, ms) / 1_000),
    depth(depth) {
      queue.set({ kind: 'event' }, depth.events)
      queue.set({ kind: 'due' }, depth.due)
      queue.set({ kind: 'later' }, depth.later)
      oldest.set(Math.max(depth.oldestEventSeconds, depth.oldestDueSeconds))
    },
  }
}
