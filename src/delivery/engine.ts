import type { Registry } from 'prom-client'
import { Canary, watch } from './canary.ts'
import { Deliverer, type DelivererDeps } from './deliver.ts'
import { fanOut, fanOutBatch } from './fan-out.ts'
import { createDeliveryMetrics } from './metrics.ts'
import { forgetOldEvents } from './retention.ts'
import { Bell } from './wake.ts'

/** Everything between a committed event and its receivers. */
export interface DeliveryEngine {
  fanOut(): Promise<void>
  deliver(): Promise<void>
  watch(): Promise<void>
  forgetOld(): Promise<void>
  /** Cuts the wait for the next round of each short. */
  bells: { fanOut: Bell; deliver: Bell }
  wake(): void
  isMoving(): boolean
  registry: Registry
  drain(): Promise<void>
}

export function createDeliveryEngine(deps: Omit<DelivererDeps, 'metrics' | 'canary'>): DeliveryEngine {
  const metrics = createDeliveryMetrics()
  const canaries = { fanOut: new Canary(), attempts: new Canary() }
  const bells = { fanOut: new Bell(), deliver: new Bell() }
  const deliverer = new Deliverer({ ...deps, metrics, canary: canaries.attempts }, bells.deliver.ring)
  return {
    bells,
    registry: metrics.registry,
    async fanOut() {
      const numbered = await fanOut(deps)
      if (numbered === 0) return
      canaries.fanOut.moved()
      bells.deliver.ring()
      if (numbered === fanOutBatch) bells.fanOut.ring()
    },
    deliver: () => deliverer.claim(),
    watch: () => watch(deps, metrics, canaries),
    forgetOld: () => forgetOldEvents(deps),
    wake() {
      bells.fanOut.ring()
      bells.deliver.ring()
    },
    isMoving: () => canaries.fanOut.isSinging() && canaries.attempts.isSinging(),
    drain: () => deliverer.drain(),
  }
}
