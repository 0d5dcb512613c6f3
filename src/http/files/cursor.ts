import type { Grant } from '../../core/clients/grant.ts'
import { badParameter } from '../../core/problem.ts'
import { seal, unseal } from '../../core/signing/seal.ts'

/** Whose a list is, and in which order. */
export interface CursorPlace extends Pick<Grant, 'client' | 'folder'> {
  sort: string
  /** 32 bytes, for this purpose alone. */
  key: Buffer
}

/** The place behind a file in a list: sealed, since a secret of one folder may have come to a halt at a file of another. */
export function cursorOf(position: string, { key, ...place }: CursorPlace): string {
  return seal(position, { key, place: placeOf(place) })
}

/** @throws Problem 400 for what is no cursor of that list */
export function positionOf(cursor: string, { key, ...place }: CursorPlace): string {
  try {
    return unseal(cursor, { key, place: placeOf(place) })
  } catch {
    throw badParameter({
      param: 'cursor',
      expected: 'a cursor of a response with the same sort, client and folder,',
      received: cursor,
    })
  }
}

function placeOf({ client, folder = '', sort }: Omit<CursorPlace, 'key'>): string {
  return JSON.stringify([client.id, folder, sort])
}
