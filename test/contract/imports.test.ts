import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** Imports point one way, and features meet at their services. */

const src = fileURLToPath(new URL('../../src', import.meta.url))

interface Import {
  from: string
  to: string
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => relative(src, join(src, name)).replaceAll('\\', '/'))

const isTest = (file: string) => file.endsWith('.test.ts')
const textOf = (file: string) => readFileSync(join(src, file), 'utf8')

const specifier = /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g

/** Every import of one file of ours by another; paths are relative to src. */
const imports: Import[] = files
  .filter((file) => !isTest(file))
  .flatMap((from) =>
    [...textOf(from).matchAll(specifier)]
      .map((match) => match[1] ?? match[2]!)
      .filter((target) => target.startsWith('.'))
      .map((target) => ({ from, to: posix.join(posix.dirname(from), target) })),
  )

/** Each may import itself and what is listed. */
const layers: Record<string, string[]> = {
  kernel: [],
  infra: ['kernel'],
  events: ['kernel', 'infra'],
  features: ['kernel', 'infra', 'events'],
  delivery: ['kernel', 'infra', 'events', 'features'],
  oauth: ['kernel', 'infra', 'events', 'features'],
  config: ['kernel'],
  version: [],
  app: ['kernel', 'infra', 'events', 'features', 'delivery', 'oauth', 'config', 'version'],
  worker: ['kernel', 'infra', 'events', 'features', 'delivery', 'oauth', 'config', 'version'],
  cli: ['kernel', 'infra', 'events', 'features', 'delivery', 'oauth', 'config', 'version', 'app', 'worker'],
  main: [
    'kernel',
    'infra',
    'events',
    'features',
    'delivery',
    'oauth',
    'config',
    'version',
    'app',
    'worker',
    'cli',
  ],
}

/** The folder, or for a file right in src its own name: `config-values.ts` belongs to config. */
function layerOf(file: string): string {
  const [first, second] = file.split('/')
  return second === undefined ? first!.replace(/(-\w+)?(\.test)?\.ts$/, '') : first!
}

/** `features/units/queries.ts` → `units`; undefined outside of features and for features/index.ts. */
const featureOf = (file: string): string | undefined => /^features\/([^/]+)\//.exec(file)?.[1]

const shown = ({ from, to }: Import) => `${from} imports ${to}`

const betweenFeatures = imports.filter(({ from, to }) => {
  const [importer, imported] = [featureOf(from), featureOf(to)]
  return importer !== undefined && imported !== undefined && importer !== imported
})

describe('imports', () => {
  it('are found', () => {
    expect(imports.length).toBeGreaterThan(100)
    expect(betweenFeatures.length).toBeGreaterThan(0)
  })

  it('lead to files that exist', () => {
    const missing = imports.filter(({ to }) => !to.startsWith('..') && !files.includes(to))
    expect(missing.map(shown)).toEqual([])
  })

  it('stay in src, but for the manifest', () => {
    const outside = imports.filter(({ to }) => to.startsWith('..') && to !== '../package.json')
    expect(outside.map(shown)).toEqual([])
  })

  it('belong to a layer that is on the list', () => {
    expect(files.filter((file) => !(layerOf(file) in layers))).toEqual([])
  })

  it('point one way through the layers', () => {
    const wrong = imports.filter(({ from, to }) => {
      if (to.startsWith('..')) return false
      const [importer, imported] = [layerOf(from), layerOf(to)]
      return importer !== imported && !layers[importer]?.includes(imported)
    })
    expect(wrong.map(shown)).toEqual([])
  })
})

describe('features', () => {
  it("never import another feature's queries", () => {
    const wrong = betweenFeatures.filter(({ to }) => /\/[\w-]*queries\.ts$/.test(to))
    expect(wrong.map(shown)).toEqual([])
  })

  it("never import another feature's routes", () => {
    const wrong = betweenFeatures.filter(({ to }) => to.endsWith('/routes.ts'))
    expect(wrong.map(shown)).toEqual([])
  })

  it('never import each other in a circle', () => {
    const needs = Map.groupBy(betweenFeatures, ({ from }) => featureOf(from)!)
    const circleFrom = (feature: string, trail: string[]): string[] | undefined => {
      if (trail.includes(feature)) return [...trail.slice(trail.indexOf(feature)), feature]
      for (const { to } of needs.get(feature) ?? []) {
        const circle = circleFrom(featureOf(to)!, [...trail, feature])
        if (circle) return circle
      }
      return undefined
    }
    const circles = [...needs.keys()].map((feature) => circleFrom(feature, [])).filter((circle) => circle)
    expect(circles.map((circle) => circle!.join(' → '))).toEqual([])
  })
})

describe('files', () => {
  it('have at most 400 lines', () => {
    const long = files.filter((file) => textOf(file).trimEnd().split('\n').length > 400)
    expect(long).toEqual([])
  })
})
