import type { JsonSchema } from './fields.ts'

/*
 * A record stands in many answers. In the reference each shape of it stands once, under its name,
 * and answers refer to it: a reader finds the record, a generator makes one type of it, and the
 * document is a third as long.
 */

type Shared = Record<string, JsonSchema>

/** Takes named schemas out of the answers of all operations. Bodies stay whole: they are read one at a time. */
export function withSharedSchemas(document: JsonSchema): JsonSchema {
  const { paths, components, ...rest } = document as { paths: JsonSchema; components: { schemas: Shared } }
  const shared: Shared = {}
  const shorter = inPaths(paths, (schema) => referring(schema, shared))
  return {
    ...rest,
    paths: shorter,
    components: { ...components, schemas: { ...components.schemas, ...shared } },
  }
}

function inPaths(paths: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  return mapValues(paths, (operations) =>
    mapValues(operations, (operation) => ({
      ...operation,
      responses: mapValues(operation.responses as JsonSchema, (response) => ({
        ...response,
        ...(response.content !== undefined && {
          content: mapValues(response.content as JsonSchema, (media) =>
            media.schema ? { ...media, schema: change(media.schema as JsonSchema) } : media,
          ),
        }),
      })),
    })),
  )
}

const mapValues = (record: JsonSchema, change: (value: JsonSchema) => JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value as JsonSchema)]))

function referring(value: unknown, shared: Shared): JsonSchema {
  if (Array.isArray(value)) return value.map((item) => referring(item, shared)) as never
  if (typeof value !== 'object' || value === null) return value as never
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, referring(part, shared)]),
  )
  if (typeof inner.title !== 'string') return inner
  return { $ref: `#/components/schemas/${nameFor(inner, shared)}` }
}

/** The record's own name; where `fields` or `expand` give it another shape, one that says so. */
function nameFor(schema: JsonSchema, shared: Shared): string {
  const base = pascalCase(schema.title as string)
  const candidates = [base, `${base}View`, ...Array.from({ length: 9 }, (_, at) => `${base}View${at + 2}`)]
  const name = candidates.find(
    (each) => !shared[each] || JSON.stringify(shared[each]) === JSON.stringify(schema),
  )!
  shared[name] ??= schema
  return name
}

const pascalCase = (text: string) =>
  text.replace(/(^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, _gap, letter) => letter.toUpperCase())
