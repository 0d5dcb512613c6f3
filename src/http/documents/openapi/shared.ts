import type { JsonSchema } from '../json-schema.ts'

/** Parts of the document that several operations have in common, each with a name and a reference to it. */
export interface SharedParts {
  /** A reference to an equal part, which is added under this name, or this name with a number. */
  ref(name: string, part: JsonSchema): JsonSchema
  /** All parts by name. */
  all(): JsonSchema
}

/** @param kind the member of `components` that has the parts: `responses` */
export function sharedParts(kind: string): SharedParts {
  const names = new Map<string, string>()
  const parts = new Map<string, JsonSchema>()
  return {
    ref(name, part) {
      const text = JSON.stringify(part)
      const known = names.get(text) ?? freeName(name, parts)
      names.set(text, known)
      parts.set(known, part)
      return { $ref: `#/components/${kind}/${known}` }
    },
    all: () => Object.fromEntries(parts),
  }
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name
  for (let number = 2; taken.has(free); number += 1) free = `${name}${number}`
  return free
}
