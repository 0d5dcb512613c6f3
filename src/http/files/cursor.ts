import { z } from 'zod'
import type { Grant } from '../../core/clients/grant.ts'
import { badParameter, type Problem } from '../../core/problem.ts'
import { seal, unseal } from '../../core/signing/seal.ts'

/** The list that a cursor belongs to: its client, folder and order. */
export interface CursorPlace extends Pick<Grant, 'client' | 'folder'> {
  sort: string
  /** 32 bytes, used only for this purpose. */
  key: Buffer
}

/** The member of a page that has its {@link cursorOf}. */
export const nextCursor = z.string().nullable().describe('Cursor of the next page; null on the last page.')

/**
 * Encodes a position in a list. Sealed, since the position may contain the path of a file outside the scope of the secret.
 *
 * @param position undefined after the last page
 */
export function cursorOf(position: string | undefined, { key, ...place }: CursorPlace): string | null {
  return position === undefined ? null : seal(position, { key, place: placeOf(place) })
}

/** Decodes a cursor; undefined for the first page. @throws Problem 400 for an invalid cursor, or one of another list */
export function positionOf(cursor: string | undefined, { key, ...place }: CursorPlace): string | undefined {
  if (cursor === undefined) return undefined
  try {
    return unseal(cursor, { key, place: placeOf(place) })
  } catch {
    throw invalidCursor(cursor)
  }
}

export function invalidCursor(cursor: string): Problem {
  return badParameter({
    param: 'cursor',
    expected: 'a cursor of a response with the same sort, client and folder',
    received: cursor,
  })
}

function placeOf({ client, folder = '', sort }: Omit<CursorPlace, 'key'>): string {
  return JSON.stringify([client.id, folder, sort])
}
