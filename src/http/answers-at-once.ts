import type { RequestHandler } from 'express'
import { Problem } from '../core/problem.ts'
import { callerAddress } from './caller-address.ts'

/**
 * Limits how many requests of one address are answered at the same time: each answer that is read slowly holds memory and a
 * connection. Counted by the address of the caller: callers behind a proxy of `TRUST_PROXY` are counted separately.
 *
 * @param most per address; 0: no limit
 * @throws Problem 429, which closes the connection
 */
export function answersAtOnce({ most }: { most: number }): RequestHandler {
  const counts = new Map<string, number>()
  return (req, res, next) => {
    if (most === 0) return next()
    const address = callerAddress(req)
    const count = counts.get(address) ?? 0
    if (count >= most) throw tooMany(most)
    counts.set(address, count + 1)
    res.once('close', () => {
      const left = (counts.get(address) ?? 0) - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    })
    next()
  }
}

function tooMany(most: number): Problem {
  return new Problem({
    status: 429,
    code: 'too_many_connections',
    detail: `Too many requests of your IP address at the same time (limit ${most}). Retry after 5 s.`,
    members: { limit: most },
    headers: { 'Retry-After': '5', Connection: 'close' },
  })
}
