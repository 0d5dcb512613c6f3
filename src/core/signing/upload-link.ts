import { createHmac } from 'node:crypto'
import { timingSafeEqualText } from '../bytes/timing-safe-equal.ts'
import { encodedPath, isFileId } from '../files/object-key.ts'
import { FORMATS } from '../media/formats.ts'
import { MEDIA_GROUPS } from '../media/groups.ts'
import { badParameter } from '../problem.ts'

/** What a signed link lets whoever has it do: upload, without a secret. */
export interface SignedLink {
  /** Of 22 characters, as a file's; and that of the file, where it may be used once. */
  id: string
  clientId: string
  /** Of the uploads; empty for none. */
  folder: string
  /** Seconds since 1970. */
  issuedAt: number
  /** From then on: 1 to {@link EXPIRES_MAX_SECONDS}. */
  expiresInSeconds: number
  /** Of a file, from 1; absent: as many as anybody may upload. */
  maxBytes?: number
  /** Media groups and names of formats, at least one; absent: all. */
  types?: readonly string[]
  /** How often it may be used: 1 to {@link USES_MAX}. */
  uses: number
}

// A week.
export const EXPIRES_MAX_SECONDS = 604_800
// All of them are kept in one text of the ledger.
export const USES_MAX = 100
/** In characters, of a link's whole address: so that it fits wherever links are kept. */
export const LINK_MAX_LENGTH = 300

/** Stands for no folder in a link, so that none can have that name. */
export const NO_FOLDER = '_'

const PATH = '/v1/upload/sign/'
const BY_MEDIA_TYPE = new Map(FORMATS.map(({ mediaType, name }) => [mediaType, name]))
const NAMES: ReadonlySet<string> = new Set([...MEDIA_GROUPS, ...FORMATS.map(({ name }) => name)])
const TARGET =
  /^\/v1\/upload\/sign\/(?<id>[^/?]+)\/(?<client>\w+)\.(?<issuedAt>[\da-z]{1,8})\.(?<bytes>[\da-z]{0,11})\.(?<uses>[\da-z]{0,2})\.(?<types>[\da-z-]*)\.[\w-]{43}\/(?<folder>[^?]+)\?expirationIn=(?<expiresIn>\d{1,6})$/
const EXPECTED_TYPES = 'media types like "image/png" or "image/*"'

/**
 * The types of a link, as it names them: `image/*` and `image` are the group, `image/png` and `png` the format.
 * @throws Problem 400
 */
export function linkTypes(types: readonly string[]): string[] {
  return types.map((type, i) => {
    const name = BY_MEDIA_TYPE.get(type) ?? type.replace(/\/\*$/, '')
    if (NAMES.has(name) && name !== 'bin') return name
    throw badParameter({ param: `types[${i}]`, expected: EXPECTED_TYPES, received: type })
  })
}

/** What {@link linkTypes} has made, as media types again. */
export function linkMediaTypes(names: readonly string[]): string[] {
  return names.map((name) => FORMATS.find((format) => format.name === name)?.mediaType ?? `${name}/*`)
}

/**
 * The path and query of a link: `/v1/upload/sign/<id>/<client>.<issued at>.<bytes>.<uses>.<types>.<signature>/<folder>?expirationIn=3600`.
 * Numbers in base 36; the signature is HMAC-SHA256 over all that stands before and behind it.
 */
export function linkTarget(link: SignedLink, key: Uint8Array): string {
  const { id, clientId, folder, issuedAt, expiresInSeconds, maxBytes, types, uses } = link
  const claims = [
    clientId,
    issuedAt.toString(36),
    maxBytes?.toString(36) ?? '',
    uses === 1 ? '' : uses.toString(36),
    types?.join('-') ?? '',
  ].join('.')
  const before = `${PATH}${id}/${claims}`
  const behind = `/${folder === '' ? NO_FOLDER : encodedPath(folder)}?expirationIn=${expiresInSeconds}`
  const signature = createHmac('sha256', key).update(`${before}${behind}`).digest('base64url')
  return `${before}.${signature}${behind}`
}

/**
 * Reads what a request was sent to, path and query as they came.
 *
 * @param keyOf the key that a client's links are signed with
 * @returns undefined for anything that {@link linkTarget} has not made, to the letter
 */
export function readLinkTarget(
  target: string,
  keyOf: (clientId: string) => Uint8Array,
): SignedLink | undefined {
  const found = TARGET.exec(target)?.groups as Record<string, string> | undefined
  if (!found) return undefined
  const folder = decoded(found.folder === NO_FOLDER ? '' : found.folder)
  if (folder === undefined || !isFileId(found.id ?? '')) return undefined
  const link: SignedLink = {
    id: found.id ?? '',
    clientId: found.client ?? '',
    folder,
    issuedAt: Number.parseInt(found.issuedAt ?? '', 36),
    expiresInSeconds: Number(found.expiresIn),
    ...(found.bytes ? { maxBytes: Number.parseInt(found.bytes, 36) } : {}),
    ...(found.types ? { types: found.types.split('-') } : {}),
    uses: found.uses ? Number.parseInt(found.uses, 36) : 1,
  }
  // As text: a change that would mean the same, a `%61` for an `a`, is another link all the same.
  return timingSafeEqualText(linkTarget(link, keyOf(link.clientId)), target) ? link : undefined
}

/** Milliseconds since 1970; from then on it is over. */
export function linkEnd({ issuedAt, expiresInSeconds }: SignedLink): number {
  return 1000 * (issuedAt + expiresInSeconds)
}

function decoded(text = ''): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
