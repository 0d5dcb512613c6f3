import { VARIANT_LIMIT_MAX } from '../src/core/clients/rules/table.ts'
import { integer } from './variable.ts'

/** Limits of derivatives. They are a cache: beyond a limit, the least recently used ones are evicted. */
export const DERIVATIVE_VARIABLES = {
  VARIANT_LIMIT: integer({
    min: 1,
    max: VARIANT_LIMIT_MAX,
    unit: 'derivatives',
    // Ten widths in three formats for three densities are 90.
    default: 1000,
    help: 'Maximum number of derivatives of a file, unless the rules of its client set another one. Beyond it, the least recently used derivative is evicted.',
  }),
  DERIVATIVES_MAX_BYTES: integer({
    min: 0,
    unit: 'bytes',
    default: 20_000_000_000,
    help: 'Maximum size of all derivatives of a client, unless its rules set another one. Beyond it, the least recently used derivatives are evicted. 0: unlimited.',
  }),
  DERIVATIVES_MAX_TIMES: integer({
    min: 1,
    max: 1_000_000,
    unit: 'times the size of the file',
    // A WAV of speech at 32 kbit/s has 24 times its bytes.
    default: 50,
    help: 'Maximum size of all derivatives of a file, as a multiple of its own size. 256 MB are always allowed.',
  }),
  PROXY_FROM_MEGAPIXELS: integer({
    min: 0,
    max: 1000,
    unit: 'megapixels',
    default: 12,
    help: 'Minimum size of images for which a proxy is stored when it has been useful for the third time: a copy of at most 2,560 px, from which smaller derivatives are rendered. For images whose decoder cannot shrink, such as PNG and progressive JPEG, and for smaller proxies of all images, of 720 and 1,440 px: from 4 megapixels, if that is less. 0: no proxies.',
  }),
  OUTPUT_MAX_BYTES: integer({
    min: 1,
    max: 1_000_000_000_000,
    unit: 'bytes',
    default: 1_073_741_824,
    help: 'Maximum size of the output of a transformation. Requests for a larger output return 422.',
  }),
}
