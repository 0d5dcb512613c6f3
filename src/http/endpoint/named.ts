import { z } from 'zod'
import { listed } from '../../core/text/listed.ts'

const names = new Map<z.ZodType, string>()

/** Gives a schema the name that it has in the API document and in the types of generated clients. @throws Error for a name in use */
export function named<T extends z.ZodType>(name: string, schema: T): T {
  if ([...names.values()].includes(name))
    throw new Error(`two schemas of the API document are called ${name}`)
  names.set(schema, name)
  return schema
}

/**
 * The JSON object of a request. Members that the schema does not have are refused.
 *
 * @param expected what a refusal says of it: `an object of …`
 */
export function bodyOf<S extends z.ZodRawShape>(
  name: string,
  shape: S,
  expected: Parameters<typeof z.strictObject>[1] = `an object of ${listed(Object.keys(shape))}`,
): z.ZodObject<S, z.core.$strict> {
  return named(name, z.strictObject(shape, expected))
}

/** The JSON object of a response. */
export function replyOf<S extends z.ZodRawShape>(
  name: string,
  description: string,
  shape: S,
): z.ZodObject<S, z.core.$strip> {
  return named(name, z.object(shape).describe(description))
}

/** All named schemas of the modules that are loaded. */
export function namedSchemas(): ReadonlyMap<z.ZodType, string> {
  return names
}
