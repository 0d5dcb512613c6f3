import type { RequestHandler } from 'express'
import { createPlaces } from '../../core/budgets/places.ts'
import { Problem } from '../../core/problem.ts'
import { secretIn } from '../../service/clients/access.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { clientIp } from '../caller/client-ip.ts'

/** The limit of concurrent requests per IP address. */
export interface ConcurrentResponses {
  limit: RequestHandler
  /** Whether the limit may refuse a request. False while so few are in progress that no address can have reached it. */
  mayRefuse(): boolean
}

/**
 * Limits concurrent requests per IP address: each response that is read slowly holds memory and a connection. It counts by
 * the address of the caller, so callers behind a proxy of `TRUST_PROXY` are counted separately. Requests with the secret of
 * a client have a separate count, so that strangers behind the same address do not use it up.
 *
 * @param options `most` is the limit per address in each of the two counts; 0: no limit
 * @throws Problem 429, which closes the connection
 */
export function limitConcurrentResponses({
  most,
  clients,
}: {
  most: number
  clients: Pick<Clients, 'isSecret'>
}): ConcurrentResponses {
  const places = createPlaces()
  let inProgress = 0
  const limit: RequestHandler = (req, res, next) => {
    if (most === 0) return next()
    const secret = secretIn(req.headers.authorization)
    const isTrusted = secret !== undefined && clients.isSecret(secret)
    const name = `${isTrusted ? 'trusted' : 'public'} ${clientIp(req)}`
    const taken = places.take([{ name, atMost: most }])
    if ('full' in taken) throw tooMany(most)
    inProgress += 1
    res.once('close', () => {
      inProgress -= 1
      taken.giveBack()
    })
    next()
  }
  return { limit, mayRefuse: () => most > 0 && inProgress >= most }
}

function tooMany(most: number): Problem {
  return new Problem({
    status: 429,
    code: 'too_many_connections',
    detail: `Too many concurrent requests from your IP address (limit ${most}). Retry after 5 s.`,
    members: { limit: most },
    headers: { 'Retry-After': '5', Connection: 'close' },
  })
}
