import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import type { Format } from '../media/formats.ts'
import { formatInKey } from '../media/free-extension.ts'
import { badPath } from '../problem.ts'
import { isFolderSegment } from '../signing/signed-url.ts'
import { bundleFile, provisionalName } from './bundle.ts'
import { partitionHash } from './partition.ts'
import { NOTHING_UNSEEN, relativePathDefect, UNSEEN_CHARACTER } from './relative-path.ts'

declare const checked: unique symbol

/**
 * The name of an object in a client's root: `photos/2024/image/png/7uLq….png`. Buckets accept no other names, and
 * only this file creates them, so that no request can name a file outside this grammar:
 *
 * - original: `[<folder>/]<group>/<format>/<id>.<extension>`; an unknown file, of the format `bin`, has the extension
 *   of its uploaded name
 * - derivative, next to it: `<original>_<variant>`; with several files: `<original>_<variant>/<entry>`, and its parts
 *   next to the entry, with the names of `core/files/bundle.ts`
 * - the service's own records: `.sluice/…`, which no path of a request resolves to
 */
export type ObjectKey = string & { readonly [checked]: true }

/** The parts of an original's key. */
export interface OriginalName {
  key: ObjectKey
  /** Without slashes at its ends; empty for no folder. */
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
// Compared without case: some file systems ignore it.
export const isRecords = (segment: string | undefined) => segment?.toLowerCase() === RECORDS
const ID = '[1-9A-HJ-NP-Za-km-z]{22}'
const FILE_ID = new RegExp(`^${ID}$`)
export const SOURCE_NAME = new RegExp(`^${ID}\\.([a-z0-9]+)$`)
const LAST_SEGMENT = new RegExp(`^(${ID}\\.[a-z0-9]+)(?:_(.+))?$`)

/** Creates a file id: 128 random bits as 22 characters of base58. @param alike a file id: the new one has the same {@link partitionHash} */
export function newFileId(alike?: string): string {
  let id = fileIdOf(randomBytes(16))
  while (alike !== undefined && partitionHash(id) !== partitionHash(alike)) id = fileIdOf(randomBytes(16))
  return id
}

/** Returns the first 16 bytes as a file id. */
export function fileIdOf(bytes: Uint8Array): string {
  return base58.encode(bytes.subarray(0, 16)).padStart(22, '1')
}

/** Whether the text has the form of a file id: 22 characters of base58. */
export function isFileId(text: string): boolean {
  return FILE_ID.test(text)
}

/** Creates the name of a new original. @param folder as returned by {@link parseFolder} */
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

/** The key of a derivative. @param variant as returned by `variantOf` */
export function derivativeKey(originalKey: ObjectKey, variant: string): ObjectKey {
  return `${originalKey}_${variant}` as ObjectKey
}

/** The prefix of the keys of a bundle's parts and of its entry; undefined for a derivative of a single file. */
export function partsPrefix(derivative: ObjectKey): string | undefined {
  const slash = derivative.lastIndexOf('/') + 1
  return bundleFile(derivative.slice(slash))?.kind === 'entry' ? derivative.slice(0, slash) : undefined
}

/**
 * The key of a part of a derivative. @throws Error when the derivative has no parts, or the name is not that of a
 * part
 */
export function partKey(derivative: ObjectKey, name: string): ObjectKey {
  const prefix = partsPrefix(derivative)
  if (prefix === undefined || bundleFile(name)?.kind !== 'part')
    throw new Error(`not a part of ${derivative}: ${JSON.stringify(name)}`)
  return `${prefix}${name}` as ObjectKey
}

/** The prefix of the keys of all derivatives of an original. No other key of the grammar begins with it. */
export function derivativePrefix(originalKey: ObjectKey): string {
  return `${originalKey}_`
}

/**
 * The key of the part that replaces a bundle's entry while the bundle is in progress; undefined when there is no such
 * part, as for a derivative of a single file.
 */
export function provisionalKey(derivative: ObjectKey): ObjectKey | undefined {
  const prefix = partsPrefix(derivative)
  const name = prefix === undefined ? undefined : provisionalName(derivative.slice(prefix.length))
  return name === undefined ? undefined : partKey(derivative, name)
}

/** The key of an original's record in the bucket. */
export function recordKey(originalKey: ObjectKey): ObjectKey {
  return `${recordPrefix}${originalKey}.json` as ObjectKey
}

export const recordPrefix = `${RECORDS}/meta/`

/** The kind of object that a key names. */
export type KeyClass =
  | { kind: 'original' | 'derivative' | 'record'; original: OriginalName }
  | { kind: 'part'; original: OriginalName; derivative: ObjectKey }

/**
 * Returns the kind of a key and the original that it belongs to; undefined for a client's record, and for keys
 * outside the grammar.
 */
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

/** The number of derivatives among these keys. Parts of bundles are not counted. */
export function countDerivatives(keys: readonly ObjectKey[]): number {
  return keys.filter((key) => classifyKey(key)?.kind !== 'part').length
}

/** The key of a client's record, in the first client's root. */
export function clientRecordKey(clientId: string): ObjectKey {
  return `${clientRecordPrefix}${clientId}.json` as ObjectKey
}

export const clientRecordPrefix = `${RECORDS}/clients/`

/** The key of the members of the console, in the first client's root. */
export const membersKey = `${RECORDS}/members.json` as ObjectKey

/** The key of the record that maps a remote URL, or a file of an import, to its original. @param digest a SHA-256 in hexadecimal */
export function remoteRecordKey(digest: string): ObjectKey {
  return `${remoteRecordPrefix}${digest}.json` as ObjectKey
}

export const remoteRecordPrefix = `${RECORDS}/remote/`

/**
 * Types a key that was read from a bucket, an index, or one of the service's own records.
 *
 * @throws Error when the text has never been a valid key
 */
export function storedKey(text: string): ObjectKey {
  if (pathDefect(text)) throw new Error(`not an object key: ${JSON.stringify(text)}`)
  return text as ObjectKey
}

/** Returns a key as the path of a URL: every segment percent-encoded, the slashes unchanged. */
export function encodedPath(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/')
}

/**
 * Parses a key of the grammar; undefined for any other text, including keys in `.sluice/`. For a file of a bundle,
 * `variant` ends with the file's name: `hls/master.m3u8`.
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
 * Parses the folder of an upload: at most 8 segments and 200 bytes, no segment like the signature of a folder in a
 * URL.
 *
 * @returns the folder; empty when undefined
 * @throws Problem 400 for an invalid folder
 */
export function parseFolder(folder: string | undefined, param = 'path'): string {
  const parsed = parseExistingFolder(folder, param)
  // In signed URLs this segment would be read as a signature: the folder's files could not be delivered.
  if (!parsed.split('/').some(isFolderSegment)) return parsed
  const expected = 'without a segment like the signature of a folder'
  throw badPath({ param, expected, received: parsed })
}

/** The same for folders of stored files, which an earlier version with fewer rules may have accepted. */
export function parseExistingFolder(folder: string | undefined, param = 'path'): string {
  if (folder === undefined) return ''
  const segments = folder.split('/')
  const expected =
    pathDefect(folder) ??
    (UNSEEN_CHARACTER.test(folder) ? NOTHING_UNSEEN : undefined) ??
    (Buffer.byteLength(folder) > FOLDER_MAX_BYTES ? `of at most ${FOLDER_MAX_BYTES} bytes` : undefined) ??
    (segments.length > FOLDER_MAX_SEGMENTS ? `of at most ${FOLDER_MAX_SEGMENTS} segments` : undefined) ??
    (isRecords(segments[0]) ? `outside ${RECORDS} (the service's own folder)` : undefined) ??
    // On a disk, such a folder could have the path of a stored file.
    (segments.some((segment) => LAST_SEGMENT.test(segment))
      ? 'without a segment named like a stored file'
      : undefined)
  if (expected) throw badPath({ param, expected, received: folder })
  return folder
}

/** Returns the requirement that a path violates, as in {@link relativePathDefect}; undefined for a valid path. */
export function pathDefect(path: string): string | undefined {
  if (/[?#]/.test(path)) return 'without a "?" or "#"'
  if (/^[a-z][a-z0-9+.-]*:/i.test(path)) return 'without a scheme'
  // The path is decoded once already. What is still encoded was encoded twice, to bypass a check like this one.
  if (/%(?:[01][0-9a-f]|2[ef3]|3f|5c|7f|25|c2%[89][0-9a-f])/i.test(path)) return 'that is not encoded twice'
  return relativePathDefect(path, { maxBytes: PATH_MAX_BYTES })
}
