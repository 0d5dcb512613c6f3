import { isFileId, type ObjectKey, RECORDS, storedKey } from './object-key.ts'

/** Names an upload that comes in several requests. */
export interface ResumableRef {
  clientId: string
  /** As `newFileId` makes them, and not the id of the file that will be: that one is public. */
  id: string
}

/** A part of such an upload: bytes from `start`, counted in the whole, to before `end`. */
export interface ResumablePiece {
  key: ObjectKey
  start: number
  end: number
}

// Of all clients in the first one's root, so that one list finds them all, and records apart, so that it is short.
export const resumableRecordPrefix = `${RECORDS}/tus/uploads/`
export const resumablePiecePrefix = `${RECORDS}/tus/pieces/`

const RECORD = /^([^/]+)\/([^/]+)\.json$/
const PIECE = /^([^/]+)\/([^/]+)\/(\d{1,15})-(\d{1,15})$/

/** Where it lies what is known of an upload in several requests, in the first client's root. */
export function resumableRecordKey({ clientId, id }: ResumableRef): ObjectKey {
  return storedKey(`${resumableRecordPrefix}${clientId}/${id}.json`)
}

/** What the keys of its pieces begin with. */
export function resumablePiecesOf({ clientId, id }: ResumableRef): string {
  return `${resumablePiecePrefix}${clientId}/${id}/`
}

/** A piece of it, by the bytes that it holds. */
export function resumablePiece(
  ref: ResumableRef,
  { start, end }: { start: number; end: number },
): ResumablePiece {
  return { key: storedKey(`${resumablePiecesOf(ref)}${start}-${end}`), start, end }
}

/** Which upload in several requests a key belongs to, and as what; undefined for all other keys. */
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
