import type { Service } from '../service.ts'

/** A password of members in tests. */
export const PASSWORD = 'four random words here'

export interface ConsoleAnswer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts its structure.
  json: any
}

/** A browser that has the console open. It stores the cookie of the session. */
export interface Browser {
  /** The `Cookie` header; empty when there is no cookie. */
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
      const [pair = ''] = response.headers.getSetCookie()
      if (pair !== '') own.cookie = /^sluice_session=;/.test(pair) ? '' : (pair.split(';')[0] ?? '')
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
