import type { Grant } from '../../core/clients/grant.ts'
import { badParameter } from '../../core/problem.ts'
import { seal, unseal } from '../../core/signing/seal.ts'

/** The list that a cursor belongs to: its client, folder and order. */
export interface CursorPlace extends Pick<Grant, 'client' | 'folder'> {
  sort: string
  /** 32 bytes, used only for this purpose. */
  key: Buffer
}

/** Encodes a position in a list. Sealed, since the position may contain the path of a file outside the scope of the secret. */
export function cursorOf(position: string, { key, ...place }: CursorPlace): string {
  return seal(position, { key, place: placeOf(place) })
}

/** Decodes a cursor. @throws Problem 400 for an invalid cursor, or one of another list */
export function positionOf(cursor: string, { key, ...place }: CursorPlace): string {
  try {
    return unseal(cursor, { key, place: placeOf(place) })
  } catch {
    throw badParameter({
      param: 'cursor',
      expected: 'a cursor of a response with the same sort, client and folder',
      received: cursor,
    })
  }
}

function placeOf({ client, folder = '', sort }: Omit<CursorPlace, 'key'>): string {
  return JSON.stringify([client.id, folder, sort])
}
