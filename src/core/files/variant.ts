import { sha256 } from '../bytes/digest.ts'
import { COPY_SIDE, PROXY_SIDES, type ProxySide } from '../media/copies.ts'

const MAX_BYTES = 180

/**
 * The variant that stores the information about an original, as JSON. No query leads to it: every result of
 * {@link variantOf} is `default`, or has a `=`, a `~` or a `/`.
 */
export const INFORMATION_VARIANT = 'info'

/** The variant of a proxy of an original: a smaller copy, from which small derivatives are rendered. */
export function proxyVariant(side: ProxySide): string {
  return side === COPY_SIDE ? 'proxy' : `proxy-${side}`
}

const PROXY_VARIANTS: readonly string[] = PROXY_SIDES.map(proxyVariant)

/** Variants that no query leads to. Such derivatives are not listed, not counted, and not delivered by their name. */
export const RESERVED_VARIANTS: readonly string[] = [INFORMATION_VARIANT, ...PROXY_VARIANTS]

export function isProxyVariant(variant: string): boolean {
  return PROXY_VARIANTS.includes(variant)
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
