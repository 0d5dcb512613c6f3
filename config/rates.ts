import { CPU_MS_MAX, POINTS_MAX } from '../src/core/clients/rules/rates.ts'
import { type Defaulted, integer } from './variable.ts'

type RateVariable<N extends string> = `${N}_RATE_${'LIMIT' | 'LIMIT_PER_IP' | 'WINDOW_SECONDS'}`

interface RateOptions {
  /** What is counted: `Uploads`. */
  counted: string
  /** What is counted per IP address, when that differs. */
  countedPerIp?: string
  /** Whose requests the first limit counts together. Default: `per client`. */
  each?: string
  unit: string
  /** Defaults: per client, per IP address, and the window of both. */
  points: number
  addressPoints: number
  seconds: number
  /** Upper bound of both limits. Default: `POINTS_MAX`. */
  max?: number
}

/** The three variables of a rate limit. 0 points: unlimited. */
function rate<const N extends string>(
  name: N,
  options: RateOptions,
): Record<RateVariable<N>, Defaulted<number>> {
  const { counted, countedPerIp = counted, each = 'per client', unit, max = POINTS_MAX } = options
  const bounds = { min: 0, max, unit }
  return {
    [`${name}_RATE_LIMIT`]: integer({
      ...bounds,
      default: options.points,
      help: `${counted} ${each} in ${name}_RATE_WINDOW_SECONDS. 0: unlimited.`,
    }),
    [`${name}_RATE_LIMIT_PER_IP`]: integer({
      ...bounds,
      default: options.addressPoints,
      help: `${countedPerIp} per IP address in ${name}_RATE_WINDOW_SECONDS, over all clients. 0: unlimited.`,
    }),
    [`${name}_RATE_WINDOW_SECONDS`]: integer({
      min: 1,
      max: 86_400,
      unit: 'seconds',
      default: options.seconds,
      help: `Window of ${name}_RATE_LIMIT and ${name}_RATE_LIMIT_PER_IP.`,
    }),
  } as Record<RateVariable<N>, Defaulted<number>>
}

/**
 * Rate limits of expensive requests. By default, only requests that need no secret have a limit per IP address. It is
 * generous because many callers share an address: an office, or all callers behind a proxy that TRUST_PROXY lacks.
 */
export const RATE_VARIABLES = {
  ...rate('UPLOAD', {
    counted: 'Uploads',
    unit: 'requests',
    points: 3000,
    addressPoints: 0,
    seconds: 60,
  }),
  ...rate('DERIVATIVE', {
    counted: 'New image derivatives',
    unit: 'derivatives',
    points: 6000,
    addressPoints: 1500,
    seconds: 60,
  }),
  ...rate('CPU', {
    counted: 'CPU time of new image derivatives',
    unit: 'milliseconds',
    // One core on average per IP address: a page with a hundred new images of 12 megapixels takes 20 to 100 s.
    points: 1_800_000,
    addressPoints: 300_000,
    seconds: 300,
    max: CPU_MS_MAX,
    countedPerIp: 'CPU time of new image derivatives requested without a secret',
  }),
  ...rate('FETCH', {
    counted: 'Files fetched from other servers',
    unit: 'requests',
    // A fifth: one IP address must not use up the public URLs of all other visitors of a client.
    points: 50,
    addressPoints: 10,
    seconds: 5,
    countedPerIp: 'Files fetched from other servers by requests without a secret',
  }),
  ...rate('MEDIA', {
    counted: 'New media jobs requested without a secret',
    unit: 'jobs',
    points: 600,
    addressPoints: 60,
    seconds: 600,
  }),
  ...rate('SIGN', {
    counted: 'Signed links',
    unit: 'links',
    points: 1000,
    addressPoints: 0,
    seconds: 3600,
  }),
  ...rate('ZIP', {
    counted: 'ZIP archives',
    unit: 'requests',
    points: 10,
    addressPoints: 0,
    seconds: 60,
  }),
  ...rate('WEBHOOK', {
    counted: 'Webhook tests and requests for replays',
    unit: 'requests',
    points: 60,
    addressPoints: 0,
    seconds: 60,
  }),
  ...rate('SIGN_IN', {
    counted: 'Sign-in attempts',
    each: 'per email address, and in total with ADMIN_PASSWORD,',
    unit: 'attempts',
    points: 100,
    addressPoints: 10,
    seconds: 300,
  }),
}
