import { sha256 } from '../bytes/digest.ts'
import { ENCODINGS, type Encoding } from '../media/encodings.ts'
import { COPY_SIDE, PROXY_SIDES, type ProxyName } from '../media/smaller-copies.ts'
import { derivativeKey, type ObjectKey } from './object-key.ts'

const MAX_BYTES = 180

/**
 * The variant that stores the information about an original, as JSON. No query leads to it: every result of
 * {@link variantOf} is `default`, or has a `=`, a `~` or a `/`.
 */
export const INFORMATION_VARIANT = 'info'

/** The variant of a proxy of an original: a smaller copy, from which small derivatives are rendered. */
export function proxyVariant({ side, page }: ProxyName): string {
  if (page > 1) return `${PAGE_PROXY}${page}`
  return side === COPY_SIDE ? 'proxy' : `proxy-${side}`
}

// All pages of a document are drawn in one size, so their proxies have one size, too.
const PAGE_PROXY = 'proxy-p'
const PROXY_VARIANTS: readonly string[] = PROXY_SIDES.map((side) => proxyVariant({ side, page: 1 }))

/**
 * The variant of a compressed copy.
 *
 * @param source the bytes of a derivative; undefined for the original. A derivative may be rendered again, with other bytes
 */
export function encodedVariant(encoding: Encoding, source?: Uint8Array): string {
  return source === undefined ? encoding : `${encoding}-${sha256(source).slice(0, 16)}`
}

const ENCODED_DERIVATIVE = new RegExp(`^(?:${ENCODINGS.join('|')})-[0-9a-f]{16}$`)

/**
 * Reserved variants of which each original has at most one. Those of proxies of further pages, and of compressed copies of
 * derivatives, are not among them.
 */
export const RESERVED_VARIANTS: readonly string[] = [INFORMATION_VARIANT, ...PROXY_VARIANTS, ...ENCODINGS]

/** Whether no query leads to this variant. Such derivatives are not listed, not counted, and not delivered by their name. */
export function isReservedVariant(variant: string): boolean {
  return RESERVED_VARIANTS.includes(variant) || isFurtherCopy(variant)
}

/** Whether a derivative of this original has a reserved variant. */
export function isReservedKey(original: ObjectKey, derivative: ObjectKey): boolean {
  const variant = variantIn(original, derivative)
  return variant !== undefined && isReservedVariant(variant)
}

export function isProxyVariant(variant: string): boolean {
  return PROXY_VARIANTS.includes(variant) || isPageProxyVariant(variant)
}

/** The encoding of a compressed copy; undefined for any other variant. */
export function encodingOf(variant: string): Encoding | undefined {
  return ENCODINGS.find(
    (encoding) =>
      variant === encoding || (ENCODED_DERIVATIVE.test(variant) && variant.startsWith(`${encoding}-`)),
  )
}

/** Whether this is a copy that clients do not know of: a proxy, or a compressed copy. */
export function isCopyVariant(variant: string): boolean {
  return isProxyVariant(variant) || encodingOf(variant) !== undefined
}

/** Whether this is the variant of the proxy of a page after the first. */
function isPageProxyVariant(variant: string): boolean {
  return variant.startsWith(PAGE_PROXY) && /^[1-9]\d*$/.test(variant.slice(PAGE_PROXY.length))
}

/** Whether an original may have many of these copies: proxies of pages after the first, and compressed copies of derivatives. */
function isFurtherCopy(variant: string): boolean {
  return isPageProxyVariant(variant) || ENCODED_DERIVATIVE.test(variant)
}

/** The same, for a derivative of this original. */
export function isFurtherCopyKey(original: ObjectKey, derivative: ObjectKey): boolean {
  const variant = variantIn(original, derivative)
  return variant !== undefined && isFurtherCopy(variant)
}

/** Undefined for a derivative of another original. */
function variantIn(original: ObjectKey, derivative: ObjectKey): string | undefined {
  const before = derivativeKey(original, '')
  return derivative.startsWith(before) ? derivative.slice(before.length) : undefined
}

/**
 * The end of the variant of a derivative that shows a file of a private folder. No fingerprint is equal to it: those have
 * hexadecimal digits.
 */
export const PRIVATE_MARK = '&~private'

/**
 * The canonical text of a transformation, the second half of a derivative's key: `h=200&w=100`. Names are sorted, so
 * that the order in a URL does not matter; values are canonical already. When a value has other characters than `A-Z
 * a-z 0-9 . , : -`, or the text is longer than 180 bytes, the variant is `~` and a hash.
 *
 * @param parameters names without aliases, with canonical values; a name without a value is undefined. Empty when
 *   every value is the default: the variant is then `default`
 * @param fingerprint of a plan that differs from the shipped one: an edited plugin or option is another variant
 */
export function variantOf(parameters: ReadonlyMap<string, string | undefined>, fingerprint?: string): string {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1))
  const text = sorted.map(([name, value]) => (value === undefined ? name : `${name}=${value}`)).join('&')
  const plain =
    text.length <= MAX_BYTES && sorted.every(([, value]) => /^[A-Za-z0-9.,:-]*$/.test(value ?? ''))
  // The hash is computed over JSON: with free text in a value, "a=1&b=2" could be one parameter or two.
  const name = plain ? text || 'default' : `~${sha256(JSON.stringify(sorted)).slice(0, 32)}`
  return fingerprint === undefined ? name : `${name}&~${fingerprint.slice(0, 8)}`
}
