import type { Field, Fields, JsonSchema } from './fields.ts'

/** JSON Schemas of a resource as it is read, and of the bodies that write it. */

export function readSchema(fields: Fields, title?: string): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      described(
        field,
        nullable(
          field.is === 'group' ? readSchema(field.fields) : field.schema,
          !field.marks.required && !field.marks.always && field.marks.default === undefined,
        ),
      ),
    ]),
  )
  return {
    ...(title && { title }),
    type: 'object',
    properties,
    required: Object.keys(fields),
    additionalProperties: false,
  }
}

export function bodySchema(
  fields: Fields,
  use: 'create' | 'update',
  renamed: Record<string, string> = {},
): JsonSchema {
  const writable = Object.entries(fields).filter(([, field]) => isSettable(field, use))
  const required = writable
    .filter(([, field]) => use === 'create' && field.marks.required)
    .map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      writable.map(([name, field]) => [
        name,
        described(field, nullable(sentSchema(field, use), clearable(field))),
      ]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...(Object.keys(renamed).length > 0 && { 'x-renamed': renamed }),
  }
}

export const isSettable = ({ marks }: Field, use: 'create' | 'update'): boolean =>
  !marks.readOnly && !(use === 'create' && marks.updateOnly)

// A PUT merges one level deep: the parts of a group may come alone, but what is nested deeper comes whole.
const sentSchema = (field: Field, use: 'create' | 'update'): JsonSchema => {
  if (field.is === 'leaf') return field.schema
  const schema = bodySchema(field.fields, use)
  if (use === 'create') return schema
  const whole = Object.entries(field.fields).filter(([, part]) => part.is === 'group')
  const properties = { ...(schema.properties as object) } as Record<string, JsonSchema>
  for (const [name, part] of whole)
    properties[name] = described(part, nullable(sentSchema(part, 'create'), clearable(part)))
  return { ...schema, properties }
}

/** Null clears what is optional. A state or switch with a fixed default always has a value. */
function clearable(field: Field): boolean {
  const { required, default: value } = field.marks
  return !required && (value === undefined || Array.isArray(value) || typeof value === 'function')
}

function nullable(schema: JsonSchema, allowed: boolean): JsonSchema {
  if (!allowed) return schema
  return {
    ...schema,
    type: [schema.type, 'null'],
    ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
  }
}

function described(field: Field, schema: JsonSchema): JsonSchema {
  const { description, example, readOnly, default: value } = field.marks
  return {
    ...schema,
    ...(description && { description }),
    ...(example !== undefined && { examples: [example] }),
    ...(readOnly && { readOnly }),
    ...(value !== undefined && typeof value !== 'function' && { default: value }),
  }
}

/** A plausible record made of the fields' examples. */
export function exampleOf(fields: Fields): unknown {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      if (field.marks.example !== undefined) return [name, field.marks.example]
      if (field.is === 'group') return [name, exampleOf(field.fields)]
      return [name, typeof field.marks.default === 'function' ? null : (field.marks.default ?? null)]
    }),
  )
}

/** The example of a create body: what can be sent, where it has an example. */
export function createExampleOf(fields: Fields): Record<string, unknown> {
  const example = exampleOf(fields) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(example).filter(([name, value]) => isSettable(fields[name]!, 'create') && value !== null),
  )
}
