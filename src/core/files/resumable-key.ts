import { isFileId, type ObjectKey, RECORDS, storedKey } from './object-key.ts'

/** Identifies a resumable upload. */
export interface ResumableRef {
  clientId: string
  /** As returned by `newFileId`. It differs from the id of the resulting file, which is public. */
  id: string
}

/** A piece of a resumable upload: the bytes from `start`, inclusive, to `end`, exclusive, counted in the whole file. */
export interface ResumablePiece {
  key: ObjectKey
  start: number
  end: number
}

// All clients share the first client's root, so that one list finds all uploads. Records have their own prefix, so
// that this list is short.
export const resumableRecordPrefix = `${RECORDS}/tus/uploads/`
export const resumablePiecePrefix = `${RECORDS}/tus/pieces/`

const RECORD = /^([^/]+)\/([^/]+)\.json$/
const PIECE = /^([^/]+)\/([^/]+)\/(\d{1,15})-(\d{1,15})$/

/** The key of the record of a resumable upload, in the first client's root. */
export function resumableRecordKey({ clientId, id }: ResumableRef): ObjectKey {
  return storedKey(`${resumableRecordPrefix}${clientId}/${id}.json`)
}

/** The prefix of the keys of its pieces. */
export function resumablePiecesOf({ clientId, id }: ResumableRef): string {
  return `${resumablePiecePrefix}${clientId}/${id}/`
}

/** A piece of the upload, from the range of its bytes. */
export function resumablePiece(
  ref: ResumableRef,
  { start, end }: { start: number; end: number },
): ResumablePiece {
  return { key: storedKey(`${resumablePiecesOf(ref)}${start}-${end}`), start, end }
}

/**
 * Returns the resumable upload that a key belongs to, with the piece for a piece's key; undefined for all other keys.
 */
export function resumableMeaning(key: string): { ref: ResumableRef; piece?: ResumablePiece } | undefined {
  const isRecord = key.startsWith(resumableRecordPrefix)
  const prefix = isRecord ? resumableRecordPrefix : resumablePiecePrefix
  if (!key.startsWith(prefix)) return undefined
  const [, clientId = '', id = '', start, end] =
    (isRecord ? RECORD : PIECE).exec(key.slice(prefix.length)) ?? []
  if (!isFileId(id)) return undefined
  const ref = { clientId, id }
  return isRecord ? { ref } : { ref, piece: resumablePiece(ref, { start: Number(start), end: Number(end) }) }
}
