import { createHmac } from 'node:crypto'
import { timingSafeEqualText } from '../bytes/timing-safe-equal.ts'
import { encodedPath, isFileId } from '../files/object-key.ts'
import { FORMATS } from '../media/formats.ts'
import { MEDIA_GROUPS } from '../media/groups.ts'
import { badParameter } from '../problem.ts'
import { percentDecoded } from '../text/percent-decoded.ts'

/** Rules of a link for the content of files. */
export interface LinkContentRules {
  /** Minimum and maximum of width × height of an image, both inclusive: 1 to {@link PIXELS_MAX}. */
  minPixels?: number
  maxPixels?: number
  /** Whether images must be decodable, and the headers of video and audio readable. */
  isDecodable?: true
}

/** The rights of a signed upload link. Its bearer uploads without a secret. */
export interface SignedLink extends LinkContentRules {
  /** 22 characters, as a file id. For a link with one use it is also the id of the uploaded file. */
  id: string
  clientId: string
  /** The folder of the uploads; empty for the top folder. */
  folder: string
  /** Seconds since 1970. */
  issuedAt: number
  /** Lifetime from `issuedAt`: 1 to {@link EXPIRES_MAX_SECONDS}. */
  expiresInSeconds: number
  /** Limit of a file, from 1; absent: the limit of all uploads. */
  maxBytes?: number
  /** Media groups and names of formats, at least one; absent: all. */
  types?: readonly string[]
  /** Number of uses: 1 to {@link USES_MAX}. */
  uses: number
}

// 100,000 × 100,000: that of the rules of clients.
export const PIXELS_MAX = 10_000_000_000
// One week.
export const EXPIRES_MAX_SECONDS = 604_800
// All uses of a link are stored in one text of the ledger.
export const USES_MAX = 100
/** Limit of a link's whole URL, in characters, so that it fits wherever links are stored. */
export const LINK_MAX_LENGTH = 300

/** Represents the top folder in a link, so no folder can have this name. */
export const NO_FOLDER = '_'

const PATH = '/v1/upload/sign/'
const BY_MEDIA_TYPE = new Map(FORMATS.map(({ mediaType, name }) => [mediaType, name]))
const NAMES: ReadonlySet<string> = new Set([...MEDIA_GROUPS, ...FORMATS.map(({ name }) => name)])
const TARGET =
  /^\/v1\/upload\/sign\/(?<id>[^/?]+)\/(?<client>\w+)\.(?<issuedAt>[\da-z]{1,8})\.(?<bytes>[\da-z]{0,11})\.(?<uses>[\da-z]{0,2})\.(?<types>[\da-z-]*)(?:\.(?<content>[\da-z-]+))?\.[\w-]{43}\/(?<folder>[^?]+)\?expirationIn=(?<expiresIn>\d{1,6})$/
const EXPECTED_TYPES = 'media types like "image/png" or "image/*"'

/**
 * Normalizes the types of a link: `image/*` and `image` become the group, `image/png` and `png` the format.
 *
 * @throws Problem 400 for an unknown type
 */
export function linkTypes(types: readonly string[], param = 'types'): string[] {
  return types.map((type, i) => {
    const name = BY_MEDIA_TYPE.get(type) ?? type.replace(/\/\*$/, '')
    if (NAMES.has(name) && name !== 'bin') return name
    throw badParameter({ param: `${param}[${i}]`, expected: EXPECTED_TYPES, received: type })
  })
}

/** Converts the result of {@link linkTypes} back into media types. */
export function linkMediaTypes(names: readonly string[]): string[] {
  return names.map((name) => FORMATS.find((format) => format.name === name)?.mediaType ?? `${name}/*`)
}

/**
 * Returns the path and query of a link: `/v1/upload/sign/<id>/<client>.<issued
 * at>.<bytes>.<uses>.<types>.<signature>/<folder>?expirationIn=3600`. Rules for the content follow the types, as
 * `.i2s-a9ix-d`. Numbers are in base 36. The signature is HMAC-SHA256 over the text before and after it.
 */
export function linkTarget(link: SignedLink, key: Uint8Array): string {
  const { id, clientId, folder, issuedAt, expiresInSeconds, maxBytes, types, uses } = link
  const claims = [
    clientId,
    issuedAt.toString(36),
    maxBytes?.toString(36) ?? '',
    uses === 1 ? '' : uses.toString(36),
    types?.join('-') ?? '',
    ...contentClaim(link),
  ].join('.')
  const before = `${PATH}${id}/${claims}`
  const behind = `/${folder === '' ? NO_FOLDER : encodedPath(folder)}?expirationIn=${expiresInSeconds}`
  const signature = createHmac('sha256', key).update(`${before}${behind}`).digest('base64url')
  return `${before}.${signature}${behind}`
}

/**
 * Parses and verifies the target of a request, path and query as received.
 *
 * @param keyOf returns the key that a client's links are signed with
 * @returns undefined for any text that {@link linkTarget} did not create exactly
 */
export function readLinkTarget(
  target: string,
  keyOf: (clientId: string) => Uint8Array,
): SignedLink | undefined {
  const found = TARGET.exec(target)?.groups as Record<string, string> | undefined
  if (!found) return undefined
  const folder = percentDecoded(found.folder === NO_FOLDER ? '' : found.folder)
  if (folder === undefined || !isFileId(found.id ?? '')) return undefined
  const link: SignedLink = {
    id: found.id ?? '',
    clientId: found.client ?? '',
    folder,
    issuedAt: Number.parseInt(found.issuedAt ?? '', 36),
    expiresInSeconds: Number(found.expiresIn),
    ...(found.bytes ? { maxBytes: Number.parseInt(found.bytes, 36) } : {}),
    ...(found.types ? { types: found.types.split('-') } : {}),
    ...contentRules(found.content),
    uses: found.uses ? Number.parseInt(found.uses, 36) : 1,
  }
  // Compared as text: a different spelling with the same meaning, `%61` for `a`, is not valid either.
  return timingSafeEqualText(linkTarget(link, keyOf(link.clientId)), target) ? link : undefined
}

/** One claim for all rules of the content; none for a link without such rules, whose text is that of earlier versions. */
function contentClaim({ minPixels, maxPixels, isDecodable }: LinkContentRules): string[] {
  const rules = [
    ...(minPixels === undefined ? [] : [`i${minPixels.toString(36)}`]),
    ...(maxPixels === undefined ? [] : [`a${maxPixels.toString(36)}`]),
    ...(isDecodable ? ['d'] : []),
  ]
  return rules.length > 0 ? [rules.join('-')] : []
}

function contentRules(claim = ''): LinkContentRules {
  const byLetter = new Map(claim.split('-').map((rule) => [rule.slice(0, 1), rule.slice(1)]))
  const [min, max] = [byLetter.get('i'), byLetter.get('a')]
  return {
    ...(min === undefined ? {} : { minPixels: Number.parseInt(min, 36) }),
    ...(max === undefined ? {} : { maxPixels: Number.parseInt(max, 36) }),
    ...(byLetter.has('d') ? { isDecodable: true } : {}),
  }
}

/** The expiry in milliseconds since 1970, exclusive. */
export function linkEnd({ issuedAt, expiresInSeconds }: SignedLink): number {
  return 1000 * (issuedAt + expiresInSeconds)
}
