import { integer } from './variable.ts'

/** Limits on the number and size of derivatives. They are a cache: the least recently used ones are evicted. */
export const DERIVATIVE_VARIABLES = {
  VARIANT_LIMIT: integer({
    min: 1,
    max: 1_000_000,
    unit: 'derivatives',
    // Ten widths in three formats for three densities are 90.
    default: 1000,
    help: "Derivatives that a file may have, unless its client's rules say otherwise; past it the least recently used one is evicted",
  }),
  DERIVATIVES_MAX_BYTES: integer({
    min: 0,
    unit: 'bytes',
    default: 20_000_000_000,
    help: 'Bytes of all derivatives of a client, unless its rules say otherwise; past it the least recently used ones are evicted; 0: unlimited',
  }),
  DERIVATIVES_MAX_TIMES: integer({
    min: 1,
    max: 1_000_000,
    unit: 'times the size of the file',
    // A WAV of speech at 32 kbit/s has 24 times its bytes.
    default: 50,
    help: 'Bytes of the derivatives of one file, as a multiple of its own; 256 MB are allowed in any case',
  }),
  OUTPUT_MAX_BYTES: integer({
    min: 1,
    max: 1_000_000_000_000,
    unit: 'bytes',
    default: 1_073_741_824,
    help: 'Largest output of a transformation; a larger one is a 422',
  }),
}
