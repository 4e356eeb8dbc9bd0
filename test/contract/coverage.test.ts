import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { operationAt } from '../reference.ts'
import { operations } from './operations.ts'

/** Every operation of the reference has a scenario that somebody wrote for it; those in this folder do not count. */

const root = fileURLToPath(new URL('../..', import.meta.url))

const tests = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.startsWith('contract'))
    .map((name) => readFileSync(join(root, folder, name), 'utf8')),
)

const scenario = /\b(get|post|put|patch|delete):\s*(['"`])(\/v1\/.*?)\2/g

/** The ids of the operations that the scenarios in a source call. */
function calledIn(source: string): string[] {
  return [...source.matchAll(scenario)].flatMap(([, method, , path]) => {
    const url = path!.replaceAll(/\$\{[^}]*\}/g, 'x')
    return operationAt(method!, url)?.operationId ?? []
  })
}

it('finds scenarios, whatever stands for the parameters', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a test
  const source = "{ get: `/v1/properties/${data.id}/units?page=2` }, { delete: '/v1/units/unit_1' }"
  expect(calledIn(source)).toEqual(['listPropertyUnits', 'deleteUnit'])
})

it('finds a scenario for every operation', () => {
  const called = new Set(tests.flatMap(calledIn))
  const missing = operations.filter(({ spec }) => !called.has(spec.operationId!))
  expect(missing.map(({ name }) => name)).toEqual([])
})
