import type { Service } from '../service.ts'

/** Of the operator of services in tests. */
export const ADMIN_PASSWORD = 'correct horse battery staple'

/** Sends requests of the operator to a service. */
export type Admin = (method: string, path: string, body?: unknown) => Promise<AdminAnswer>

export interface AdminAnswer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts its structure.
  json: any
}

/** `POST /v1/sign-in`. */
export function postSignIn(
  { url }: Pick<Service, 'url'>,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/v1/sign-in`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Signs in to a service whose `ADMIN_PASSWORD` is ours. */
export async function signedIn(service: Pick<Service, 'url'>, password = ADMIN_PASSWORD): Promise<Admin> {
  const { token } = (await (await postSignIn(service, { password })).json()) as { token: string }
  return askAs(service, `Bearer ${token}`)
}

/** Asks below `/v1/clients` with this `Authorization`. */
export function askAs({ url }: Pick<Service, 'url'>, authorization: string | undefined): Admin {
  return async (method, path, body) => {
    const response = await fetch(`${url}/v1/clients${path}`, {
      method,
      headers: {
        ...(authorization === undefined ? {} : { Authorization: authorization }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      json: text === '' ? undefined : JSON.parse(text),
    }
  }
}
