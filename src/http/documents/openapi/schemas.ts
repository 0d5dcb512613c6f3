import { z } from 'zod'
import { namedSchemas } from '../../endpoint/named.ts'
import { ENDPOINTS } from '../../endpoints.ts'
import type { JsonSchema } from '../json-schema.ts'

/**
 * All named schemas as JSON Schema, by their names.
 *
 * @param options.members of responses: `open` for clients, which ignore those that a later version adds; `closed` for tests
 */
export function componentSchemas({
  members = 'open',
}: {
  members?: 'open' | 'closed'
} = {}): Record<string, JsonSchema> {
  const bodies = bodySchemas()
  const named = [...namedSchemas()]
  return {
    ...jsonSchemas(
      named.filter(([schema]) => bodies.has(schema)),
      optionsFor('input', members),
    ),
    ...jsonSchemas(
      named.filter(([schema]) => !bodies.has(schema)),
      optionsFor('output', members),
    ),
  }
}

/** A reference to a named schema. @throws Error for a schema without a name */
export function schemaRef(schema: z.ZodType): JsonSchema {
  const name = namedSchemas().get(schema)
  if (name === undefined) throw new Error('a schema of the API document is not named')
  return { $ref: addressOf(name) }
}

/** The schemas of request bodies. JSON Schema describes what may be sent, not what is read from it. */
function bodySchemas(): ReadonlySet<z.ZodType> {
  const contents = ENDPOINTS.flatMap(({ body = {} }) => Object.values(body))
  return new Set(contents.flatMap((content) => ('schema' in content ? content.schema : [])))
}

function addressOf(name: string): string {
  return `#/components/schemas/${name}`
}

function jsonSchemas(
  named: ReadonlyArray<readonly [schema: z.ZodType, name: string]>,
  options: z.core.ToJSONSchemaParams,
): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [schema, id] of named) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { ...options, uri: addressOf })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as JsonSchema]),
  )
}

function optionsFor(io: 'input' | 'output', members: 'open' | 'closed'): z.core.ToJSONSchemaParams {
  const options: z.core.ToJSONSchemaParams = {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod
      // Arrays and records with a first check of their length: see core/bounded-schemas.ts.
      if (io === 'input' && def.type === 'pipe') {
        const { in: first, out } = def as z.core.$ZodPipeDef
        if (first._zod.def.type !== 'custom') return
        const { $schema: _, ...inner } = z.toJSONSchema(out, options)
        Object.assign(jsonSchema, { ...inner, ...jsonSchema })
      }
      if (io === 'output' && members === 'open' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties
      // openapi-typescript makes a member with a default a required one, in requests as well.
      if (io === 'input' && jsonSchema.default !== undefined) {
        const words = [jsonSchema.description, `Default: ${JSON.stringify(jsonSchema.default)}.`]
        jsonSchema.description = words.filter(Boolean).join(' ')
        delete jsonSchema.default
      }
      // TypeScript's readonly arrays are not the readOnly of JSON Schema.
      delete jsonSchema.readOnly
      // The format states the same, and the pattern has 300 characters.
      if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern
    },
  }
  return options
}
