import type { Service } from '../service.ts'
import { type Browser, browser } from './browser.ts'

/** A browser that follows redirects, and stores the cookies of each origin. */
export interface Visitor {
  /** Cookies by origin, then by name. */
  cookies: Record<string, Record<string, string>>
  /** Sends one request. */
  visit(url: string, form?: Readonly<Record<string, string>>): Promise<Response>
  /** Follows redirects to the first page, or to a path that begins with `until`, which is not visited. Default: the console. */
  follow(
    url: string,
    options?: { form?: Readonly<Record<string, string>>; until?: string },
  ): Promise<{ url: string; html: string }>
}

export function visitor(): Visitor {
  const cookies: Visitor['cookies'] = {}
  async function visit(url: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    const { origin } = new URL(url)
    cookies[origin] ??= {}
    const own = cookies[origin]
    const pairs = Object.entries(own).map(([name, value]) => `${name}=${value}`)
    const response = await fetch(url, {
      redirect: 'manual',
      headers: pairs.length > 0 ? { Cookie: pairs.join('; ') } : {},
      ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') delete own[name]
      else own[name] = value
    }
    return response
  }
  return {
    cookies,
    visit,
    async follow(url, { form, until = '/dashboard' } = {}) {
      let response = await visit(url, form)
      let at = url
      for (let n = 0; n < 20; n += 1) {
        const location = response.headers.get('location')
        if (location === null) break
        at = new URL(location, at).href
        if (new URL(at).pathname.startsWith(until)) return { url: at, html: '' }
        response = await visit(at)
      }
      return { url: at, html: await response.text() }
    },
  }
}

/** Signs in at the issuer as a person would, by its form. @returns the last URL, and the browser with the session if there is one */
export async function signInAt(
  service: Pick<Service, 'url'>,
  { login, from, own = visitor(), until }: { login: string; from?: string; own?: Visitor; until?: string },
): Promise<{ url: string; session: Browser; own: Visitor }> {
  const query = from === undefined ? '' : `?from=${encodeURIComponent(from)}`
  let at = await own.follow(`${service.url}/v1/session/oidc${query}`)
  const action = /<form[^>]+action="([^"]+)"/.exec(at.html)?.[1]
  if (action !== undefined)
    at = await own.follow(new URL(action, at.url).href, {
      form: { prompt: 'login', login, password: 'any' },
      ...(until === undefined ? {} : { until }),
    })
  const token = own.cookies[service.url]?.sluice_session
  const session = browser(service)
  if (token !== undefined) session.cookie = `sluice_session=${token}`
  return { url: at.url, session, own }
}
