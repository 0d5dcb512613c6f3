import { integer, type Variable } from './variable.ts'

type RateVariable<N extends string> = `${N}_RATE_${'POINTS' | 'ADDRESS_POINTS' | 'SECONDS'}`

interface RateOptions {
  /** The subject of the limit, with its owner: `Archives of one client`. */
  help: string
  unit: string
  /** Defaults: points of one client, points of one IP address, and the window of both. */
  points: number
  addressPoints: number
  seconds: number
  /** The subject of the limit by address, when it differs. */
  addressHelp?: string
  /** Maximum of the points. Default: a million. */
  max?: number
}

/** The three variables of a rate limit. 0 points: no limit. */
function rate<const N extends string>(
  name: N,
  options: RateOptions,
): Record<RateVariable<N>, Variable<number>> {
  const { help, unit, points, addressPoints, seconds, addressHelp = 'The same', max = 1_000_000 } = options
  const bounds = { min: 0, max, unit }
  return {
    [`${name}_RATE_POINTS`]: integer({
      ...bounds,
      default: points,
      help: `${help} in ${name}_RATE_SECONDS; 0 is no limit`,
    }),
    [`${name}_RATE_ADDRESS_POINTS`]: integer({
      ...bounds,
      default: addressPoints,
      help: `${addressHelp} from one address, whichever clients; 0 is no limit`,
    }),
    [`${name}_RATE_SECONDS`]: integer({
      min: 1,
      max: 86_400,
      unit: 'seconds',
      default: seconds,
      help: `Window of ${name}_RATE_POINTS and ${name}_RATE_ADDRESS_POINTS`,
    }),
  } as Record<RateVariable<N>, Variable<number>>
}

/**
 * Rate limits of expensive requests. By default, an IP address is limited only for requests that need a public URL
 * alone. These limits are generous, since many callers share an address: an office, or all callers behind a proxy
 * that TRUST_PROXY does not include.
 */
export const RATE_VARIABLES = {
  ...rate('UPLOAD', {
    help: 'Uploads of one client',
    unit: 'requests',
    points: 3000,
    addressPoints: 0,
    seconds: 60,
  }),
  ...rate('DERIVATIVE', {
    help: 'New pictures that requests of one client have made',
    unit: 'pictures',
    points: 6000,
    addressPoints: 1500,
    seconds: 60,
  }),
  ...rate('CPU', {
    help: 'CPU time of new pictures of one client',
    unit: 'milliseconds',
    // For one address this is one core on average: a page with a hundred new images of 12 megapixels takes 20 to 100
    // s.
    points: 1_800_000,
    addressPoints: 300_000,
    seconds: 300,
    max: 1_000_000_000,
    addressHelp: 'The same by public URLs, without a secret,',
  }),
  ...rate('FETCH', {
    help: 'Files of other servers that one client has fetched',
    unit: 'requests',
    // A fifth: one address must not use up the public URLs of a client for all other visitors.
    points: 50,
    addressPoints: 10,
    seconds: 5,
    addressHelp: 'The same by public URLs, without a secret,',
  }),
  ...rate('MEDIA', {
    help: 'New video and audio jobs that requests of one client begin',
    unit: 'jobs',
    points: 600,
    addressPoints: 60,
    seconds: 600,
  }),
  ...rate('SIGN', {
    help: 'Signed links of one client',
    unit: 'links',
    points: 1000,
    addressPoints: 0,
    seconds: 3600,
  }),
  ...rate('ZIP', {
    help: 'Archives of one client',
    unit: 'requests',
    points: 10,
    addressPoints: 0,
    seconds: 60,
  }),
  ...rate('SIGN_IN', {
    help: 'Tries to sign in with ADMIN_PASSWORD, of all together',
    unit: 'tries',
    points: 100,
    addressPoints: 10,
    seconds: 300,
  }),
}
