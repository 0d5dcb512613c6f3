import { classifyKey, partsPrefix, storedKey } from '../files/object-key.ts'
import { folderSegment, signUrl, type UrlKey } from './signed-url.ts'

/**
 * Signs an absolute delivery URL. For a file of a bundle it signs the folder of the bundle, so that players find all files in
 * it.
 *
 * @param url of a file, of the entry of a bundle, or of a job; its path percent-encoded
 * @param until expiry in seconds since 1970; undefined: never
 */
export function signedAddress(
  url: string,
  { key, until }: { key: UrlKey; until: number | undefined },
): string {
  const { origin, pathname, search } = new URL(url)
  const [, base = '', path = ''] = DELIVERY.exec(pathname) ?? []
  const folder = search === '' ? bundleFolder(decodeURIComponent(path)) : undefined
  if (folder !== undefined) return `${origin}${base}${folderSegment(folder, key, until)}/${path}`
  // A proxy may add a prefix to our paths, which it removes from requests: signatures do not cover it.
  const at = pathname.indexOf('/v1/')
  // As the URL has it: URL would encode the query in another way.
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : ''
  const ending = until === undefined ? '' : `${query === '' ? '?' : '&'}exp=${until}`
  return `${origin}${pathname.slice(0, at)}${signUrl(`${pathname.slice(at)}${query}${ending}`, key)}`
}

const DELIVERY = /^(.*?\/v1\/\w+\/upload\/[^/]+\/)(.+)$/

/** The folder of the bundle that a file belongs to; undefined for a file that belongs to none. @param path decoded once */
export function bundleFolder(path: string): string | undefined {
  try {
    const meaning = classifyKey(storedKey(path))
    if (meaning?.kind === 'derivative') return partsPrefix(storedKey(path))
    return meaning?.kind === 'part' ? partsPrefix(meaning.derivative) : undefined
  } catch {
    return undefined
  }
}
