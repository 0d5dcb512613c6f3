import { z } from 'zod'

/** An instant in ISO 8601, in UTC. */
export function instant(description: string) {
  return z.iso.datetime().describe(description)
}

/** @param at in milliseconds since 1970 */
export function iso(at: number): string {
  return new Date(at).toISOString()
}
