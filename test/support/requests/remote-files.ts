import type { RequestListener } from 'node:http'
import type { Caller } from './client.ts'
import { type Remote, remote } from './remote.ts'

/** What a service needs to fetch from servers of this machine. */
export const fetchingFrom = (...remotes: ReadonlyArray<Pick<Remote, 'port'>>) => ({
  FETCH_ALLOW_ADDRESSES: '127.0.0.1/32',
  FETCH_PORTS: remotes.map(({ port }) => port).join(','),
})

/** Requests the upload of a remote file. */
export async function postUrl(
  { url, tokens }: Caller,
  body: unknown,
  { secret = tokens.secretClientToken, query = '' }: { secret?: string; query?: string } = {},
): Promise<Response> {
  return fetch(`${url}/v1/upload/url${query}`, {
    method: 'POST',
    headers: { Authorization: secret, 'Content-Type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** The path at which a remote image is delivered. */
export function fetchPath(
  { tokens }: Pick<Caller, 'tokens'>,
  url: string,
  { query = '', group = 'image' }: { query?: string; group?: string } = {},
): string {
  return `/v1/${group}/fetch/${tokens.clientToken}/${encodeURIComponent(url)}${query}`
}

/** The path at which a remote file is delivered and stored. */
export function keepPath(
  { tokens }: Pick<Caller, 'tokens'>,
  url: string,
  { query = '', group = 'image' }: { query?: string; group?: string } = {},
): string {
  return `/v1/${group}/fetch/keep/${tokens.clientToken}/${encodeURIComponent(url)}${query}`
}

/** A server whose files are named by their paths; any other is a 404. */
export async function fileServer(
  files: Readonly<Record<string, Buffer | string | RequestListener>>,
): Promise<Remote> {
  return remote((req, res) => {
    const path = String(req.url).split('?', 1)[0] ?? ''
    const file = files[path]
    if (typeof file === 'function') return file(req, res)
    if (file === undefined) return res.writeHead(404).end('not here')
    res.end(file)
  })
}
