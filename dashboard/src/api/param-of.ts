import { SluiceError } from '../../../client/index.ts'

/** The parameter that an error of the service is about. Undefined: it is about no single one. */
export function paramOf(error: unknown): string | undefined {
  return error instanceof SluiceError ? error.problem?.param : undefined
}
