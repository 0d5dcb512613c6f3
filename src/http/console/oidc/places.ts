const PATH = /^\/(?![/\\])[^\s\\\p{C}]*$/u
// Encrypted, with the rest of the cookie, it has fewer than the 4,096 bytes that browsers store.
const PATH_MAX_BYTES = 2000

/** Whether the text can be a path below the console, short enough for the cookie of a sign-in. */
export function isPlace(path: string): boolean {
  return PATH.test(path) && Buffer.byteLength(path) <= PATH_MAX_BYTES
}

/**
 * The URL of a page of the console. The path may come from a link of any other page, so anything but a path below the console becomes
 * the first page: it never leads to another site, or to another path of this one.
 *
 * @param path below `/dashboard`, with its query
 * @param baseUrl of the service, without a trailing slash
 */
export function toConsole(path: string, baseUrl: string): string {
  const home = new URL(`${baseUrl}/dashboard/`)
  if (!PATH.test(path)) return home.href
  const { href } = new URL(`${baseUrl}/dashboard${path}`)
  return href.startsWith(home.href) ? href : home.href
}
