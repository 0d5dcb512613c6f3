import { z } from 'zod'
import type { JsonSchema } from '../json-schema.ts'
import { REQUESTS, RESPONSES } from './components.ts'

/** All named schemas as JSON Schema, by their names. */
export function componentSchemas(): Record<string, JsonSchema> {
  return { ...jsonSchemas(REQUESTS, 'input'), ...jsonSchemas(RESPONSES, 'output') }
}

/** A reference to a named schema. @throws Error for a schema that `components.ts` does not name */
export function schemaRef(schema: z.ZodType): JsonSchema {
  const name = NAMES.get(schema)
  if (name === undefined) throw new Error('a schema of the API document has no name in openapi/components.ts')
  return { $ref: addressOf(name) }
}

const NAMES = new Map(Object.entries({ ...REQUESTS, ...RESPONSES }).map(([name, schema]) => [schema, name]))

function addressOf(name: string): string {
  return `#/components/schemas/${name}`
}

function jsonSchemas(
  named: Readonly<Record<string, z.ZodType>>,
  io: 'input' | 'output',
): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { ...optionsFor(io), uri: addressOf })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as JsonSchema]),
  )
}

function optionsFor(io: 'input' | 'output'): z.core.ToJSONSchemaParams {
  return {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod
      // Arrays and records with a first check of their length: see core/bounded-schemas.ts.
      if (io === 'input' && def.type === 'pipe') {
        const { in: first, out } = def as z.core.$ZodPipeDef
        if (first._zod.def.type !== 'custom') return
        const { $schema: _, ...inner } = z.toJSONSchema(out, optionsFor(io))
        Object.assign(jsonSchema, { ...inner, ...jsonSchema })
      }
      // A later version may add members to a response, which clients ignore.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      // The format states the same, and the pattern has 300 characters.
      if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern
    },
  }
}
