import type { z } from 'zod'

const names = new Map<z.ZodType, string>()

/** Gives a schema the name that it has in the API document and in the types of generated clients. @throws Error for a name in use */
export function named<T extends z.ZodType>(name: string, schema: T): T {
  if ([...names.values()].includes(name))
    throw new Error(`two schemas of the API document are called ${name}`)
  names.set(schema, name)
  return schema
}

/** All named schemas of the modules that are loaded. */
export function namedSchemas(): ReadonlyMap<z.ZodType, string> {
  return names
}
