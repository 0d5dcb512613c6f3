import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import type { Format } from '../media/formats.ts'
import { formatInKey } from '../media/free-extension.ts'
import { badPath } from '../problem.ts'
import { isFolderSegment } from '../signing/signed-url.ts'
import { bundleFile, provisionalName } from './bundle.ts'
import { NOTHING_UNSEEN, relativePathDefect, UNSEEN_CHARACTER } from './relative-path.ts'

declare const checked: unique symbol

/**
 * The name of an object in a client's root: `photos/2024/image/png/7uLq….png`. Buckets store under nothing else, and only
 * this file makes one, so no request can name a file outside the grammar:
 *
 * - original: `[<folder>/]<group>/<format>/<id>.<extension>`; an unknown file, of the format `bin`, keeps the extension of
 *   its name
 * - derivative, beside it: `<original>_<variant>`; of several files: `<original>_<variant>/<entry>`, and its parts beside the
 *   entry, by names of `core/files/bundle.ts`
 * - the service's own records: `.sluice/…`, which no path of a request resolves to
 */
export type ObjectKey = string & { readonly [checked]: true }

/** An original's key, taken apart. */
export interface OriginalName {
  key: ObjectKey
  /** Without slashes at its ends; empty for none. */
  folder: string
  format: Format
  /** `<id>.<extension>` */
  sourceName: string
}

const FOLDER_MAX_SEGMENTS = 8
const FOLDER_MAX_BYTES = 200
// The longest key: folder, group and format, source name, variant with its fingerprint, and the slashes between them.
const PATH_MAX_BYTES = 512

/** The folder of the service's own records, at the top of a root. */
export const RECORDS = '.sluice'
// In any case: some file systems do not tell them apart.
export const isRecords = (segment: string | undefined) => segment?.toLowerCase() === RECORDS
const ID = '[1-9A-HJ-NP-Za-km-z]{22}'
const FILE_ID = new RegExp(`^${ID}$`)
export const SOURCE_NAME = new RegExp(`^${ID}\\.([a-z0-9]+)$`)
const LAST_SEGMENT = new RegExp(`^(${ID}\\.[a-z0-9]+)(?:_(.+))?$`)

/** A new file id: 128 random bits as 22 characters of base58. */
export function newFileId(): string {
  return fileIdOf(randomBytes(16))
}

/** 128 bits as a file id: the first sixteen bytes. */
export function fileIdOf(bytes: Uint8Array): string {
  return base58.encode(bytes.subarray(0, 16)).padStart(22, '1')
}

/** Whether it could be one of {@link newFileId}, or of {@link fileIdOf}. */
export function isFileId(text: string): boolean {
  return FILE_ID.test(text)
}

/** The key of a new original. `folder` comes from {@link parseFolder}. */
export function newOriginal({
  folder,
  format,
  id,
}: {
  folder: string
  format: Format
  id: string
}): OriginalName {
  return original(folder, format, `${id}.${format.extension}`)
}

export function original(folder: string, format: Format, sourceName: string): OriginalName {
  const key = `${folder ? `${folder}/` : ''}${format.group}/${format.name}/${sourceName}` as ObjectKey
  return { key, folder, format, sourceName }
}

/** The key of a derivative. `variant` comes from `core/files/variant.ts`. */
export function derivativeKey(originalKey: ObjectKey, variant: string): ObjectKey {
  return `${originalKey}_${variant}` as ObjectKey
}

/**
 * What the keys of a derivative's parts begin with, and its own where it has parts; undefined for one that is a single file.
 */
export function partsPrefix(derivative: ObjectKey): string | undefined {
  const slash = derivative.lastIndexOf('/') + 1
  return bundleFile(derivative.slice(slash))?.kind === 'entry' ? derivative.slice(0, slash) : undefined
}

/** The key of a part of a derivative. @throws Error for a derivative or a name that has none */
export function partKey(derivative: ObjectKey, name: string): ObjectKey {
  const prefix = partsPrefix(derivative)
  if (prefix === undefined || bundleFile(name)?.kind !== 'part')
    throw new Error(`not a part of ${derivative}: ${JSON.stringify(name)}`)
  return `${prefix}${name}` as ObjectKey
}

/** What every derivative's key begins with, and no other key of the grammar does. */
export function derivativePrefix(originalKey: ObjectKey): string {
  return `${originalKey}_`
}

/**
 * The key of what stands in for a derivative of several files while it is being made; undefined where nothing does, as for
 * one that is a single file.
 */
export function provisionalKey(derivative: ObjectKey): ObjectKey | undefined {
  const prefix = partsPrefix(derivative)
  const name = prefix === undefined ? undefined : provisionalName(derivative.slice(prefix.length))
  return name === undefined ? undefined : partKey(derivative, name)
}

/** Where an original's record lies in the bucket. */
export function recordKey(originalKey: ObjectKey): ObjectKey {
  return `${recordPrefix}${originalKey}.json` as ObjectKey
}

export const recordPrefix = `${RECORDS}/meta/`

/** What a key of ours stands for. */
export type KeyClass =
  | { kind: 'original' | 'derivative' | 'record'; original: OriginalName }
  | { kind: 'part'; original: OriginalName; derivative: ObjectKey }

/** The original that a key belongs to; undefined for a client's record, and for what is no key of ours. */
export function classifyKey(key: ObjectKey): KeyClass | undefined {
  const isRecord = key.startsWith(recordPrefix) && key.endsWith('.json')
  const name = parseKey(isRecord ? key.slice(recordPrefix.length, -'.json'.length) : key)
  if (!name) return undefined
  const { variant, ...original } = name
  if (variant === undefined) return { kind: isRecord ? 'record' : 'original', original }
  if (isRecord) return undefined
  const slash = variant.indexOf('/') + 1
  const file = slash > 0 ? bundleFile(variant.slice(slash)) : undefined
  if (file?.kind !== 'part') return { kind: 'derivative', original }
  const derivative = derivativeKey(original.key, `${variant.slice(0, slash)}${file.entry}`)
  return { kind: 'part', original, derivative }
}

/** How many derivatives these keys are of, the keys of their parts aside. */
export function countDerivatives(keys: readonly ObjectKey[]): number {
  return keys.filter((key) => classifyKey(key)?.kind !== 'part').length
}

/** Where a client's record lies, in the first client's root. */
export function clientRecordKey(clientId: string): ObjectKey {
  return `${clientRecordPrefix}${clientId}.json` as ObjectKey
}

export const clientRecordPrefix = `${RECORDS}/clients/`

/** Where it is noted as which original a remote file is kept. @param digest of its URL, in hexadecimal */
export function remoteRecordKey(digest: string): ObjectKey {
  return `${remoteRecordPrefix}${digest}.json` as ObjectKey
}

export const remoteRecordPrefix = `${RECORDS}/remote/`

/**
 * A key that comes back from a bucket or index of ours, or one of the service's own records.
 * @throws Error when it could never be put there
 */
export function storedKey(text: string): ObjectKey {
  if (pathDefect(text)) throw new Error(`not an object key: ${JSON.stringify(text)}`)
  return text as ObjectKey
}

/** A key as the path of a URL: every segment percent-encoded, the slashes kept. */
export function encodedPath(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/')
}

/**
 * Takes a key of the grammar apart; undefined for anything else, `.sluice/` included. The `variant` of a file of a bundle
 * has its name at the end: `hls/master.m3u8`.
 */
export function parseKey(text: string): (OriginalName & { variant?: string }) | undefined {
  const segments = text.split('/')
  const isBundled = bundleFile(segments.at(-1) ?? '') !== undefined
  const file = isBundled ? `/${segments.pop()}` : ''
  const last = LAST_SEGMENT.exec(segments.pop() ?? '')
  const formatName = segments.pop() ?? ''
  const group = segments.pop() ?? ''
  const sourceName = last?.[1] ?? ''
  const format = formatInKey(formatName, SOURCE_NAME.exec(sourceName)?.[1])
  if (format?.group !== group) return undefined
  if (isRecords(segments[0])) return undefined
  const name = original(segments.join('/'), format, sourceName)
  const variant = last?.[2]
  if (variant === undefined) return isBundled ? undefined : name
  return { ...name, variant: `${variant}${file}` }
}

/**
 * Reads the folder of an upload: 1 to 8 segments, 200 bytes in all, none of them like the signature of a folder in a URL.
 * @returns the folder; empty for none
 * @throws Problem 400
 */
export function parseFolder(folder: string | undefined, param = 'path'): string {
  const parsed = parseExistingFolder(folder, param)
  // Where URLs are signed, this segment would be read as a signature: the folder's files could not be delivered.
  if (!parsed.split('/').some(isFolderSegment)) return parsed
  const expected = 'without a segment like the signature of a folder'
  throw badPath({ param, expected, received: parsed })
}

/** The same for files that are stored already, perhaps by a version that took more names. */
export function parseExistingFolder(folder: string | undefined, param = 'path'): string {
  if (folder === undefined) return ''
  const segments = folder.split('/')
  const expected =
    pathDefect(folder) ??
    (UNSEEN_CHARACTER.test(folder) ? NOTHING_UNSEEN : undefined) ??
    (Buffer.byteLength(folder) > FOLDER_MAX_BYTES ? `of at most ${FOLDER_MAX_BYTES} bytes` : undefined) ??
    (segments.length > FOLDER_MAX_SEGMENTS ? `of at most ${FOLDER_MAX_SEGMENTS} segments` : undefined) ??
    (isRecords(segments[0]) ? `outside ${RECORDS}, the service's own folder,` : undefined) ??
    // On a disk such a folder would stand where a file stands.
    (segments.some((segment) => LAST_SEGMENT.test(segment))
      ? 'without a segment named like a stored file'
      : undefined)
  if (expected) throw badPath({ param, expected, received: folder })
  return folder
}

/** What a path would have to be to name a file, or undefined when it may. */
export function pathDefect(path: string): string | undefined {
  if (/[?#]/.test(path)) return 'without a "?" or "#"'
  if (/^[a-z][a-z0-9+.-]*:/i.test(path)) return 'without a scheme'
  // Decoded once already: what is still encoded was encoded twice, to slip past a check like this one.
  if (/%(?:[01][0-9a-f]|2[ef3]|3f|5c|7f|25|c2%[89][0-9a-f])/i.test(path)) return 'that is not encoded twice'
  return relativePathDefect(path, { maxBytes: PATH_MAX_BYTES })
}
