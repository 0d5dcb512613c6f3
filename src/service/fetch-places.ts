import type { Client } from '../core/client.ts'
import { busy } from '../core/problem.ts'

/** Who asks for a remote file: whoever has a secret, or anyone who has a client's public token. */
export type Asker = 'secret' | 'anyone'

/** For whom a file is fetched. */
export interface FetchPlaceRequest {
  client: Pick<Client, 'id'>
  asker: Asker
  /** IP address of the caller; undefined where there is none to count by, as with a secret. */
  address?: string | undefined
}

/**
 * Takes a place for a fetch. @returns what gives it back
 * @throws Problem 503 when there is none left
 */
export type TakeFetchPlace = (request: FetchPlaceRequest) => () => void

// Of a process, for strangers and for secrets each: as many as slow servers may keep from the others, of a few kilobytes
// each in memory.
const AT_ONCE = 64
const CLIENT_AT_ONCE = 16
// One address with slow servers leaves twelve of a client's sixteen to other visitors.
const ADDRESS_AT_ONCE = 4

/**
 * The places for fetches of this process. Callers without a secret have places of their own: however many of them fetch
 * from slow servers, uploads by URL continue.
 */
export function createFetchPlaces(): TakeFetchPlace {
  const underWay = new Map<string, number>()

  return ({ client, asker, address }) => {
    const counts = [
      { name: asker, max: AT_ONCE, whose: '' },
      { name: `${asker} client ${client.id}`, max: CLIENT_AT_ONCE, whose: ' for this client' },
      ...(address === undefined
        ? []
        : [{ name: `${asker} address ${address}`, max: ADDRESS_AT_ONCE, whose: ' for one address' }]),
    ]
    for (const { name, max, whose } of counts)
      if ((underWay.get(name) ?? 0) >= max)
        throw busy(`too many files of other servers are being fetched${whose} (limit ${max})`)
    for (const { name } of counts) underWay.set(name, (underWay.get(name) ?? 0) + 1)
    return () => {
      for (const { name } of counts) {
        const left = (underWay.get(name) ?? 0) - 1
        if (left > 0) underWay.set(name, left)
        else underWay.delete(name)
      }
    }
  }
}
