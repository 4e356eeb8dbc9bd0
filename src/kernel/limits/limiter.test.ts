import { beforeEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../../../test/clock.ts'
import { aPrincipal } from '../../../test/principal.ts'
import { type Plan, type Principal, plans } from '../context.ts'
import { networkOf } from './budget.ts'
import { Counters } from './counters.ts'
import { Limiter } from './limiter.ts'
import {
  type EndpointWindow,
  endpointLimits,
  endpointWindowOf,
  endpointWindows,
  planLimits,
} from './plans.ts'
import { limitHeaders, type Standing, tooMany } from './standing.ts'

// 30 s before the end of a minute, which is also the end of a day.
const start = '2026-03-01T23:59:30.000Z'
let clock: ManualClock
let limiter: Limiter
beforeEach(() => {
  clock = new ManualClock(start)
  limiter = new Limiter({ clock })
})

const ask = (principal: Principal, endpoint?: EndpointWindow) =>
  limiter.takeFor(principal, endpoint, 'GET /v1/leads') as Standing

/** Asks so many times; how many were admitted. */
function askTimes(times: number, principal: Principal, endpoint?: EndpointWindow): number {
  let admitted = 0
  for (let i = 0; i < times; i++) if (ask(principal, endpoint).admitted) admitted++
  return admitted
}

const refusal = (standing: Standing) => {
  expect(standing.admitted).toBe(false)
  const { code, message, retryAfterSeconds } = tooMany(standing)
  expect(code).toBe('RATE_LIMIT_EXCEEDED')
  return { window: /^Limit "(\w+)" reached/.exec(message)![1], seconds: retryAfterSeconds }
}

describe.each(plans)('the plan %s', (plan: Plan) => {
  const { burst, minute, day } = planLimits[plan]

  it(`admits ${burst} in a second, and as many again in the next`, () => {
    const caller = aPrincipal(plan)
    expect(askTimes(burst! + 5, caller)).toBe(burst)
    clock.advance(999)
    expect(refusal(ask(caller))).toEqual({ window: 'burst', seconds: 1 })
    clock.advance(1)
    expect(askTimes(burst! + 5, caller)).toBe(burst)
  })

  it(`admits ${minute} in a minute, and as many again in the next`, () => {
    const caller = aPrincipal(plan, { burst: 1_000_000 })
    expect(askTimes(minute! + 5, caller)).toBe(minute)
    expect(refusal(ask(caller))).toEqual({ window: 'minute', seconds: 30 })
    clock.advance(29_999)
    expect(refusal(ask(caller))).toEqual({ window: 'minute', seconds: 1 })
    clock.advance(1)
    expect(askTimes(minute! + 5, caller)).toBe(minute)
  })

  it(`admits ${day ?? 'any number'} in a day of UTC`, () => {
    const caller = aPrincipal(plan, { burst: 1_000_000, minute: 1_000_000 })
    expect(askTimes(50_005, caller)).toBe(day ?? 50_005)
    if (day === null) return
    clock.advance(29_999)
    expect(refusal(ask(caller))).toEqual({ window: 'day', seconds: 1 })
    clock.advance(1)
    expect(ask(caller).admitted).toBe(true)
  })
})

describe('windows', () => {
  it('begin with the clock, not with the first request', () => {
    const caller = aPrincipal('starter')
    clock.advance(900)
    expect(askTimes(20, caller)).toBe(10)
    clock.advance(100)
    expect(askTimes(20, caller)).toBe(10)
  })

  it('do not count what was refused, in none of them', () => {
    const caller = aPrincipal('starter')
    for (let second = 0; second < 6; second++) {
      expect(askTimes(100, caller)).toBe(10)
      clock.advance(1_000)
    }
    const last = ask(caller)
    expect(refusal(last)).toEqual({ window: 'minute', seconds: 24 })
    expect(last.used).toEqual([0, 60, 60])
  })

  it('that are full together make the caller wait for the last of them', () => {
    const caller = aPrincipal('starter', { burst: 3, minute: 3, day: 3 })
    clock.advance(-3_600_000)
    expect(askTimes(5, caller)).toBe(3)
    expect(refusal(ask(caller))).toEqual({ window: 'day', seconds: 3_630 })
  })

  it('are shared by the credentials of a workspace, and by no other workspace', () => {
    const caller = aPrincipal('starter')
    const colleague = { ...caller, credentialId: 'sess_other', workspace: { ...caller.workspace } }
    expect(askTimes(7, caller)).toBe(7)
    expect(askTimes(7, colleague)).toBe(3)
    expect(askTimes(7, aPrincipal('starter'))).toBe(7)
  })

  it('follow custom limits and keep those of the plan for the rest', () => {
    const caller = aPrincipal('enterprise', { burst: 2, day: 5, import: 1 })
    expect(ask(caller).budget.windows.map(({ name, limit }) => [name, limit])).toEqual([
      ['burst', 2],
      ['minute', 600],
      ['day', 5],
    ])
    expect(askTimes(2, caller, 'import')).toBe(1)
    clock.advance(1_000)
    expect(askTimes(2, caller, 'import')).toBe(0)
    const unlimited = aPrincipal('professional', { day: null, minute: 100_000, burst: 100_000 })
    expect(askTimes(60_000, unlimited)).toBe(60_000)
  })

  it('change at once when the workspace does, without forgetting what was used', () => {
    const caller = aPrincipal('starter')
    expect(askTimes(20, caller)).toBe(10)
    const upgraded = { ...caller, workspace: { ...caller.workspace, plan: 'professional' as const } }
    expect(askTimes(20, upgraded)).toBe(15)
  })
})

describe('endpoint limits', () => {
  it.each(endpointWindows)('%s is a window of its own inside those of the plan', (window) => {
    const { limit } = endpointLimits[window]
    const caller = aPrincipal('enterprise', { burst: 1_000 })
    expect(askTimes(limit + 3, caller, window)).toBe(limit)
    expect(refusal(ask(caller, window))).toEqual({ window, seconds: 30 })
    expect(ask(caller).admitted).toBe(true)
    expect(ask(caller).used).toEqual([limit + 2, limit + 2, limit + 2])
    clock.advance(30_000)
    expect(askTimes(limit + 3, caller, window)).toBe(limit)
  })

  it.each([
    ['POST /v1/leads', 'leads'],
    ['POST /v1/leads/bulk', 'leads_bulk'],
    ['POST /v1/leads/import', 'import'],
    ['POST /v1/units/import', 'import'],
    ['GET /v1/analytics/overview', 'analytics'],
    ['GET /v1/analytics/agents', 'analytics'],
    ['GET /v1/leads', undefined],
    ['POST /v1/leads/:id/notes', undefined],
    ['POST /v1/units/bulk', undefined],
    ['GET /v1/imports/:id', undefined],
  ] as const)('%s has the window %s', (operation, window) => {
    const [method, path] = operation.split(' ') as [string, string]
    expect(endpointWindowOf({ method, path })).toBe(window)
  })
})

describe('addresses', () => {
  const times = (n: number, ip: string) =>
    Array.from({ length: n }, () => limiter.takeFrom(ip) as Standing).filter(({ admitted }) => admitted)
      .length

  it('may ask 60 times a minute each', () => {
    expect(times(65, '192.0.2.1')).toBe(60)
    expect(times(65, '192.0.2.2')).toBe(60)
    expect(refusal(limiter.takeFrom('192.0.2.1') as Standing)).toEqual({ window: 'address', seconds: 30 })
    clock.advance(30_000)
    expect(times(65, '192.0.2.1')).toBe(60)
  })

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (ip, network) => expect(networkOf(ip)).toBe(network))

  it('are forgotten when their minute is over, and never fill the memory', () => {
    const counters = new Counters(100)
    const window = (key: number) => ({ name: 'address', key: String(key), limit: 1, lengthMs: 60_000 })
    for (let i = 0; i < 90; i++) counters.at(window(i), 1_000)
    counters.at(window(1_000), 70_000)
    expect(counters.size).toBe(1)
    for (let i = 0; i < 1_000; i++) counters.at(window(i), 70_000)
    expect(counters.size).toBeLessThanOrEqual(100)
  })
})

describe('the headers', () => {
  it('describe the minute, and all windows in the form of the draft', () => {
    expect(limitHeaders(ask(aPrincipal('professional')))).toEqual({
      'x-ratelimit-limit': '120',
      'x-ratelimit-remaining': '119',
      'x-ratelimit-reset': String(Date.parse('2026-03-02T00:00:00Z') / 1_000),
      ratelimit: '"burst";r=24;t=1, "minute";r=119;t=30, "day";r=49999;t=30',
      'ratelimit-policy': '"burst";q=25;w=1, "minute";q=120;w=60, "day";q=50000;w=86400',
    })
  })

  it('leave out what has no limit, and add the window of the endpoint', () => {
    const headers = limitHeaders(ask(aPrincipal('enterprise'), 'import'))
    expect(headers['ratelimit-policy']).toBe('"burst";q=100;w=1, "minute";q=600;w=60, "import";q=5;w=60')
    expect(headers.ratelimit).toBe('"burst";r=99;t=1, "minute";r=599;t=30, "import";r=4;t=30')
  })
})

describe("a day's count", () => {
  it('goes on from what is known from elsewhere, and never back', () => {
    const caller = aPrincipal('starter')
    limiter.learnDay(caller.workspace.id, 9_998)
    limiter.learnDay(caller.workspace.id, 4)
    expect(askTimes(5, caller)).toBe(2)
  })
})
