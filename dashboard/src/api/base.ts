/** The URL of the console, with a slash at its end: `https://files.example/dashboard/`. The page states it as its base. */
const consoleUrl = new URL('./', document.baseURI)

/** The path of the console, for the router: `/dashboard`, below any path of a proxy. */
export const basePath: string = consoleUrl.pathname.replace(/\/$/, '')

/** The URL of the service, without a slash at its end: the base URL of the client library. */
export const serviceUrl: string = new URL('..', consoleUrl).href.replace(/\/$/, '')

/**
 * A URL of this service, as this browser reaches it. `src` of files names the public address of the service, which the policy
 * of the page does not permit when the console is open at another one, for example by its IP address.
 */
export function reachable(url: string): string {
  const { pathname, search } = new URL(url, `${serviceUrl}/`)
  const at = pathname.indexOf('/v1/')
  return at === -1 ? url : `${serviceUrl}${pathname.slice(at)}${search}`
}
