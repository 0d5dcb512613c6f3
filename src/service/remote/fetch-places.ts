import { createPlaces } from '../../core/budgets/places.ts'
import type { Client } from '../../core/clients/client.ts'
import { busy } from '../../core/problem.ts'

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
  const places = createPlaces()
  return ({ client, asker, address }) => {
    const taken = places.take([
      { name: asker, atMost: AT_ONCE, whose: '' },
      { name: `${asker} client ${client.id}`, atMost: CLIENT_AT_ONCE, whose: ' for this client' },
      ...(address === undefined
        ? []
        : [{ name: `${asker} address ${address}`, atMost: ADDRESS_AT_ONCE, whose: ' for your IP address' }]),
    ])
    if ('giveBack' in taken) return taken.giveBack
    const { whose, atMost } = taken.full
    throw busy(`Too many remote files are being fetched${whose} (limit ${atMost}). Retry in a few seconds.`)
  }
}
