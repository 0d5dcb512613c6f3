import { type ParameterSpec, parseParameter } from '../../core/plugin-api/parameter.ts'
import { WAIT_WORD } from '../../core/plugin-api/query-names.ts'
import { query } from '../documents/parameters.ts'
import { schemaOf } from '../documents/plugin-parameters.ts'

// Half of the usual timeout of proxies.
const WAIT_SPEC: ParameterSpec = {
  type: 'integer',
  min: 1,
  max: 30,
  unit: 'seconds',
  help: 'Maximum time that a request waits for a media job.',
}

/** The parameter of stored files that makes a request wait for a media job. */
export const WAIT = query(WAIT_WORD, 'Waits for a media job, in seconds.', schemaOf(WAIT_SPEC))

/** Reads `wait`. @returns seconds; 0 without it @throws Problem 400 */
export function waitSeconds(received: string | undefined): number {
  return received === undefined ? 0 : Number(parseParameter(WAIT_WORD, WAIT_SPEC, received))
}
