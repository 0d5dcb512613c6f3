import type { Environment } from './load.ts'

// Where programs are, and their libraries: those of a buildpack lie elsewhere. Never FFREPORT, which has files written.
const HANDED_DOWN = ['PATH', 'LD_LIBRARY_PATH'] as const

/** What programs that the service starts get of its environment, which holds secrets. */
export function programEnvironment(environment: Environment = process.env): Readonly<Record<string, string>> {
  return Object.fromEntries(
    HANDED_DOWN.flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
