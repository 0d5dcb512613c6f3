import type { Caller } from './client.ts'

/** Any request with a secret; `json` is its body. */
export async function ask(
  { url, tokens }: Caller,
  path: string,
  {
    method = 'GET',
    json,
    secret = tokens.secretClientToken,
    headers = {},
  }: { method?: string; json?: unknown; secret?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: never; headers: Headers }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      Authorization: secret,
      ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: typeof json === 'string' ? json : JSON.stringify(json) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    body: (text === '' ? undefined : JSON.parse(text)) as never,
    headers: response.headers,
  }
}
