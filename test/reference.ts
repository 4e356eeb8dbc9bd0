import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import { referenceOf } from '../src/app.ts'
import { endpoints } from '../src/features/index.ts'

/** The published reference, and a check of answers against it that shares no code with our own validation. */

export const reference = referenceOf({ production: 'https://api.test', sandbox: 'https://sandbox.test' })

const ajv = new Ajv2020({ strict: false, allErrors: true })
;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
ajv.addSchema({ $id: 'reference', ...reference })

const patterns = endpoints.map((endpoint) => ({
  endpoint,
  shape: new RegExp(`^${endpoint.path.replaceAll(/:\w+/g, '[^/]+')}$`),
}))

/** The operation that a request goes to; literal paths win over parameters. */
export function operationAt(method: string, url: string) {
  const path = url.split('?')[0]!
  const candidates = patterns.filter(
    ({ endpoint, shape }) => endpoint.method === method.toUpperCase() && shape.test(path),
  )
  return candidates.sort((a, b) => variables(a.endpoint.path) - variables(b.endpoint.path))[0]?.endpoint
}

const variables = (path: string) => path.split(':').length

const pointerTo = (node: object): string | undefined => (node as { $ref?: string }).$ref

/** What stands at the place that a node refers to, or the node itself. */
export function resolved<T extends object>(node: T): T {
  const ref = pointerTo(node)
  if (!ref) return node
  return ref
    .slice(2)
    .split('/')
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], reference) as T
}

const pointer = (text: string) => text.replaceAll('~', '~0').replaceAll('/', '~1')

/** Fails unless the reference lists this status for the operation, with a schema that the body meets. */
export function expectDocumented(
  method: string,
  url: string,
  answer: { status: number; headers: Record<string, string>; body: unknown; text: string },
): void {
  const operation = operationAt(method, url)
  if (!operation || answer.status === 304 || answer.status === 405) return
  const path = operation.path.replaceAll(/:(\w+)/g, '{$1}')
  const documented = (reference.paths as never)[path][method] as {
    responses: Record<string, { content?: object }>
  }
  const response = documented.responses[answer.status] && resolved(documented.responses[answer.status]!)
  expect(
    response,
    `${method} ${path} does not document ${answer.status}: ${answer.text.slice(0, 300)}`,
  ).toBeDefined()
  if (!response!.content) return
  const type = answer.headers['content-type']!.split(';')[0]!
  expect(response!.content, `${method} ${path} does not document ${type}`).toHaveProperty([type])
  if (type !== 'application/json') return
  const place =
    pointerTo(documented.responses[answer.status]!) ??
    `#/paths/${pointer(path)}/${method}/responses/${answer.status}`
  const ref = `reference${place}/content/${pointer('application/json')}/schema`
  const validate = ajv.getSchema(ref) ?? ajv.compile({ $ref: ref })
  const valid = validate(answer.body)
  expect(
    valid,
    `${method} ${path} ${answer.status} differs from the reference: ${ajv.errorsText(validate.errors)}`,
  ).toBe(true)
}
