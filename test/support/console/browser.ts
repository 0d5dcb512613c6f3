import type { Service } from '../service.ts'

/** A password of members in tests. */
export const PASSWORD = 'four random words here'

export interface ConsoleAnswer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts its structure.
  json: any
}

/** A browser that has the console open. It stores cookies. */
export interface Browser {
  /** The `Cookie` header; empty when there are no cookies. */
  cookie: string
  /** Sends a request as the console does. `headers` overrides; `null` leaves a header out. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string | null>>,
  ): Promise<ConsoleAnswer>
  /** `POST /v1/session`. */
  signIn(email: string | undefined, password?: string): Promise<ConsoleAnswer>
  /** `PUT /v1/session/link` with the token in this URL. */
  follow(link: string, choice?: object): Promise<ConsoleAnswer>
}

export function browser({ url }: Pick<Service, 'url'>): Browser {
  const own: Browser = {
    cookie: '',
    async send(method, path, body, headers = {}) {
      const sent = Object.entries({
        'Sluice-Console': '1',
        'Sec-Fetch-Site': 'same-origin',
        ...(own.cookie === '' ? {} : { Cookie: own.cookie }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      }).filter((pair): pair is [string, string] => pair[1] !== null)
      const response = await fetch(`${url}${path}`, {
        method,
        headers: Object.fromEntries(sent),
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      own.cookie = withCookies(own.cookie, response.headers.getSetCookie())
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json') ?? false
      return {
        status: response.status,
        headers: response.headers,
        json: isJson ? JSON.parse(text) : undefined,
      }
    },
    signIn: (email, password = PASSWORD) => own.send('POST', '/v1/session', { email, password }),
    follow: (link, choice = {}) =>
      own.send('PUT', '/v1/session/link', { link: tokenIn(link), password: PASSWORD, ...choice }),
  }
  return own
}

/** A `Cookie` header after these values of `Set-Cookie`. An empty value removes a cookie. */
function withCookies(cookie: string, set: readonly string[]): string {
  const nameOf = (pair: string) => pair.slice(0, pair.indexOf('=') + 1)
  return set
    .map((one) => one.split(';')[0] ?? '')
    .reduce(
      (pairs, pair) => [
        ...pairs.filter((one) => nameOf(one) !== nameOf(pair)),
        ...(pair.endsWith('=') ? [] : [pair]),
      ],
      cookie.split('; ').filter((pair) => pair !== ''),
    )
    .join('; ')
}

/** The token in the URL of a link. */
export function tokenIn(link: string): string {
  return new URL(link).hash.slice(1)
}

/** The first owner of a service, signed in by the link of the first visit. */
export async function firstOwner(service: Service, email = 'owner@example.com'): Promise<Browser> {
  const own = browser(service)
  await own.follow(service.app.firstVisit() ?? '', { email, name: 'Ada' })
  return own
}

/** A new member, signed in by an invitation of this owner. */
export async function newMember(
  service: Service,
  owner: Browser,
  { email, ...invitation }: { email: string; role: string; clients?: 'all' | readonly string[] },
): Promise<Browser & { id: string }> {
  const { json } = await owner.send('POST', '/v1/members', { email, ...invitation })
  const own = browser(service)
  await own.follow(json.link)
  return Object.assign(own, { id: String(json.member.id) })
}
