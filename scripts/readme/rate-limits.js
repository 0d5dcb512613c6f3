import { LIMIT_NAMES } from '../../src/core/clients/limit-names.ts'
import { defaultOf, duration } from './constants.js'

/** What each limit counts, and what its numbers mean beyond that. */
const TEXTS = {
  upload: {
    counts:
      'uploads; a resumable one counts once, a direct one also when it is completed, and for each `GET` while it receives parts',
  },
  derivative: { counts: 'new images that requests render; stored ones do not count' },
  cpu: {
    counts:
      'milliseconds of CPU time of new images and first requests for `info`: see [budgets](../explanation/budgets.md#cpu-time)',
    perAddress: ', without a secret',
  },
  fetch: {
    counts:
      'files fetched from other servers. Fetches by public URLs have a separate count, and only these are also counted per IP address',
  },
  media: { counts: 'new media jobs of callers without a secret' },
  sign: { counts: 'signed links' },
  zip: { counts: 'archives' },
  webhook: {
    counts:
      'webhook tests, and requests that replay one or more deliveries. Requests of the operator without a client have one count',
  },
  sign_in: {
    counts: 'sign-in attempts, successful ones included',
    perClient:
      ' for each email address, and with `ADMIN_PASSWORD` in total. Known IP addresses, and attempts with a passkey, are not counted here. An IP address is known for 90 days after it has signed in',
    perAddress: '. [Passkeys](../how-to/passkeys.md) have a count of their own, with ten times as many',
  },
}

/** The rows of the table of docs/reference/rate-limits.md. Numbers are the defaults of variables. */
export function rateLimits() {
  return LIMIT_NAMES.map((name) => {
    const { counts, perClient = '', perAddress = '' } = TEXTS[name]
    const limit = `${name.toUpperCase()}_RATE_LIMIT`
    return [`\`${name}\``, counts, shown(limit, perClient), shown(`${limit}_PER_IP`, perAddress)]
  })
}

/** `3000 in 1 minute`; nothing without a limit. */
function shown(limit, more) {
  const [points, seconds] = [limit, limit.replace(/_LIMIT.*/, '_WINDOW_SECONDS')].map(defaultOf)
  if (points === 0) return ''
  const count = limit.startsWith('CPU_') ? `${points / 1000} s` : points
  return `${count} in ${duration(seconds)}${more}`
}
