import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { unavailable } from '../../../core/problem.ts'

/** Whether an IP address must not be connected to. */
export type IsRefused = (address: string) => boolean

/**
 * Resolves names as Node does, and fails when a name resolves to a refused address. This runs at each connection, so a
 * name cannot change its address after the check.
 */
export function guardedLookup(isRefused: IsRefused): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found]
      if (!error && addresses.some(isRefused)) callback(refusal(), '', 0)
      else callback(error, found as string, family)
    })
}

/** Checks an endpoint that is an IP address, for which Node does no lookup. @throws Problem 503 for a refused address */
export function checkLiteral(endpoint: string | undefined, isRefused: IsRefused): void {
  const host = endpoint === undefined ? '' : new URL(endpoint).hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && isRefused(host)) throw refusal()
}

function refusal(): Error {
  return unavailable('the bucket is at a link-local or metadata address, to which Sluice never connects')
}
