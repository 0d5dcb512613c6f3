import { createPlaces } from '../../core/budgets/places.ts'
import type { Client } from '../../core/clients/client.ts'
import { busy } from '../../core/problem.ts'

/** The kind of caller: one with a secret, or any caller who knows a client's public token. */
export type Asker = 'secret' | 'anyone'

/** The client and caller of a fetch. */
export interface FetchPlaceRequest {
  client: Pick<Client, 'id'>
  asker: Asker
  /** IP address of the caller; undefined for callers that are not counted by address, such as those with a secret. */
  address?: string | undefined
}

/**
 * Takes a place for a fetch. @returns a function that gives it back
 * @throws Problem 503 when no place is free
 */
export type TakeFetchPlace = (request: FetchPlaceRequest) => () => void

// Per process, separately for callers with and without a secret. A place takes a few kilobytes of memory.
const AT_ONCE = 64
const CLIENT_AT_ONCE = 16
// One IP address that fetches from slow servers leaves 12 of a client's 16 places to other callers.
const ADDRESS_AT_ONCE = 4

/**
 * The places for fetches of this process. Callers without a secret have separate places: when they fetch from slow servers,
 * uploads by URL continue.
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
