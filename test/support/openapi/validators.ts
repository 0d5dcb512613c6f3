import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { z } from 'zod'
import { componentSchemas, schemaRef } from '../../../src/http/documents/openapi/schemas.ts'
import { problem } from '../../../src/http/wire/problem.ts'

/** The errors of a JSON text as one text; undefined when it is valid. */
export type Errors = string | undefined

const compiled = new Map<z.ZodType, ValidateFunction>()
let ajv: Ajv2020 | undefined

/** The check of a JSON text against a response's schema. Members that the schema does not name are errors. */
export function validatorOf(named: z.ZodType | 'problem'): (json: string | undefined) => Errors {
  const schema = named === 'problem' ? problem : named
  return (json) => {
    const validate = compiled.get(schema) ?? compile(schema)
    compiled.set(schema, validate)
    if (!json) return 'no JSON body'
    return validate(JSON.parse(json)) ? undefined : ajv?.errorsText(validate.errors)
  }
}

function compile(schema: z.ZodType): ValidateFunction {
  ajv ??= createAjv()
  const { $ref } = schemaRef(schema)
  return ajv.compile({ $ref: `api${$ref}` })
}

function createAjv(): Ajv2020 {
  // Descriptions and examples are no keywords of ajv's strict mode.
  const created = new Ajv2020({ strict: false, validateSchema: false })
  formats.default(created)
  created.addSchema({ $id: 'api', components: { schemas: componentSchemas({ members: 'closed' }) } })
  return created
}
