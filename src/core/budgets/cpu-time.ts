import type { Caller } from '../clients/caller.ts'
import type { ClientRules } from '../clients/rules/table.ts'
import type { Limit, RateLimiter, RateVerdict } from '../ports/rate-limiter.ts'
import { Problem } from '../problem.ts'

/** The payer of a transformation's CPU time. */
export interface CpuPayer {
  /** The client that owns the file. */
  clientId: string
  caller: Caller
  /** The client's own limits, which replace the configured ones. */
  rates?: ClientRules['rates'] | undefined
}

/** Limits of the CPU time of transformations: per client, and per address for requests of untrusted callers. */
export interface CpuTime {
  /** @throws Problem 429 with `Retry-After` when the address or the client has used up its CPU time */
  check(payer: CpuPayer): Promise<void>
  /** Charges the measured time, even when it exceeds the remaining time. */
  charge(payer: CpuPayer, cpuMs: number): Promise<void>
}

// The names of the two limits in headers and problems.
const CLIENT = 'cpu'
const ADDRESS = 'cpu_address'

interface Account {
  policy: typeof CLIENT | typeof ADDRESS
  limiter: RateLimiter
  key: string
}

/** Whether work was refused because its payer had no CPU time left. The same work may run for another payer. */
export function isOutOfCpuTime(error: unknown): boolean {
  return error instanceof Problem && (error.members.limit === CLIENT || error.members.limit === ADDRESS)
}

/**
 * An untrusted caller pays from the account of its address and from the client's public account. A trusted caller
 * pays from the client's private account only: public requests cannot use that up, and a back end is a single
 * address.
 */
export function createCpuTime(limit: Limit): CpuTime {
  return {
    async check(payer) {
      const looked = accountsOf(limit, payer).map(async (account) => ({
        account,
        verdict: await account.limiter.look(account.key),
      }))
      const refused = (await Promise.all(looked)).find(({ verdict }) => !verdict.allowed)
      if (refused) throw usedUp(refused.account, refused.verdict)
    },
    async charge(payer, cpuMs) {
      const points = Math.max(1, Math.ceil(cpuMs))
      await Promise.all(accountsOf(limit, payer).map(({ limiter, key }) => limiter.charge(key, points)))
    },
  }
}

function accountsOf(limit: Limit, { clientId, caller, rates }: CpuPayer): Account[] {
  const { isTrusted, address } = caller
  const accounts: Account[] = []
  if (limit.byAddress && !isTrusted)
    accounts.push({ policy: ADDRESS, limiter: limit.byAddress, key: address })
  const byClient = ofClient(limit, rates?.cpu)
  const key = isTrusted ? clientId : `${clientId} public`
  if (byClient) accounts.push({ policy: CLIENT, limiter: byClient, key })
  return accounts
}

/** @param own the client's own points; 0 means no limit, undefined the configured limit */
function ofClient({ byClient, byClientWith }: Limit, own: number | undefined): RateLimiter | undefined {
  if (own === undefined) return byClient
  return own === 0 ? undefined : byClientWith(own)
}

/** @see draft-ietf-httpapi-ratelimit-headers-10 */
function usedUp({ policy, limiter: { points, seconds } }: Account, { resetMs }: RateVerdict): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(resetMs / 1000))
  const whose = policy === ADDRESS ? 'your IP address' : 'this client'
  return new Problem({
    status: 429,
    code: 'rate_limited',
    detail: `The new transformations of ${whose} have used up their CPU time (${points / 1000} s in ${seconds} s). Retry after ${retryAfterSeconds} s.`,
    members: { limit: policy, retryAfterSeconds },
    headers: {
      'Retry-After': String(retryAfterSeconds),
      'RateLimit-Policy': `"${policy}";q=${points};w=${seconds}`,
      RateLimit: `"${policy}";r=0;t=${retryAfterSeconds}`,
    },
  })
}
