import { afterEach, expect, it, vi } from 'vitest'
import { remembered } from './remember.ts'

let counts = 0
const many = (key: string) => remembered(key, async () => ({ figures: ++counts, rows: 20_000 }))
const few = (key: string) => remembered(key, async () => ({ figures: ++counts, rows: 19_999 }))

const clock = vi.spyOn(performance, 'now')
let now = 1_000_000
clock.mockImplementation(() => now)
afterEach(() => {
  counts = 0
})

it('counts few rows for everybody who asks', async () => {
  expect(await few('few')).toBe(1)
  expect(await few('few')).toBe(2)
})

it('shows what was counted from many for a minute, and counts anew in the background', async () => {
  expect(await many('many')).toBe(1)
  now += 5_000
  expect(await many('many')).toBe(1)
  expect(counts).toBe(1)
  now += 1
  expect(await many('many')).toBe(1)
  await vi.waitFor(() => expect(counts).toBe(2))
  expect(await many('many')).toBe(2)
  now += 60_001
  expect(await many('many')).toBe(3)
})

it('counts anew after a failure, which the next to ask is told', async () => {
  const broken = () => remembered('broken', () => Promise.reject(new Error('no database')))
  await expect(broken()).rejects.toThrow('no database')
  expect(await many('broken')).toBe(1)
  now += 6_000
  expect(await broken()).toBe(1)
  await vi.waitFor(() => expect(broken()).rejects.toThrow('no database'))
})

it('lets those who ask for what takes long wait for one count', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const slow = () =>
    remembered('slow', async () => {
      counts++
      await promise
      return { figures: 'counted', rows: 20_000 }
    })
  const first = slow()
  now += 250
  const second = slow()
  now += 251
  const third = slow()
  resolve()
  expect(await Promise.all([first, second, third])).toEqual(['counted', 'counted', 'counted'])
  expect(counts).toBe(2)
})
