import type { Readable } from 'node:stream'
import type { Client } from '../../core/clients/client.ts'
import { dispositionName } from '../../core/files/disposition-name.ts'
import { namesHost } from '../../core/net/host-patterns.ts'
import { urlNotAllowed } from '../../core/net/remote-url.ts'
import type { FetchAccess, Fetched, Fetcher } from '../../core/ports/fetcher.ts'
import { Problem } from '../../core/problem.ts'
import { percentDecoded } from '../../core/text/percent-decoded.ts'
import { type Asker, createFetchPlaces, type FetchPlaceRequest } from './fetch-places.ts'

export interface RemoteRequest extends FetchPlaceRequest {
  client: Client
  /** A URL from `parseRemoteUrl`. */
  url: string
  /** Time limit of the whole fetch. */
  timeoutMs: number
  maxBytes: number
  signal: AbortSignal
}

/** A remote file while it is received. */
export interface RemoteFile {
  /** The file name of the remote server; may be empty. */
  name: string
  /** `Last-Modified` in milliseconds since 1970; undefined when absent or invalid. */
  changedAt: number | undefined
  /** The caller must consume or destroy it. Fails when the file is incomplete. */
  bytes: Readable
}

/** Files of other servers. */
export interface Remotes {
  /** @throws Problem 403 when remote fetching is not enabled for this client */
  check(client: Client, asker: Asker): void
  /** @throws Problem as `check`, and 400 for a host that the client's rules do not allow. The fetcher checks redirects */
  checkUrl(request: Pick<RemoteRequest, 'client' | 'asker' | 'url'>): void
  /**
   * @throws Problem 400 for a URL that may not be fetched, 403, 404 when the file does not exist, 413, 502, 503 when too many
   *   files are being fetched, 504
   */
  open(request: RemoteRequest): Promise<RemoteFile>
}

export function createRemotes({ fetcher }: { fetcher: Fetcher }): Remotes {
  const takePlace = createFetchPlaces()

  async function fetched({ client, asker, address, ...request }: RemoteRequest): Promise<Fetched> {
    const access = accessOf(client, asker)
    const givePlace = takePlace({ client, asker, address })
    try {
      const response = await fetcher.fetch({ ...request, access })
      response.body.once('close', givePlace)
      return response
    } catch (error) {
      givePlace()
      throw error
    }
  }

  return {
    check: (client, asker) => void accessOf(client, asker),
    checkUrl({ client, asker, url }) {
      const { allowHosts, denyHosts = [] } = accessOf(client, asker)
      const { hostname } = new URL(url)
      if (namesHost(denyHosts, hostname) || (allowHosts && !namesHost(allowHosts, hostname)))
        throw urlNotAllowed('a host that may be fetched from')
    },
    async open(request) {
      const { status, headers, body, url } = await fetched(request)
      if (status !== 200) {
        body.destroy()
        throw remoteStatus(status)
      }
      const changedAt = Date.parse(headers['last-modified'] ?? '')
      return {
        name: dispositionName(headers['content-disposition']) || urlName(url),
        changedAt: Number.isNaN(changedAt) ? undefined : changedAt,
        bytes: body,
      }
    },
  }
}

/** By default, callers with a secret may fetch from all hosts and others from no host: anyone can edit a public URL. */
function accessOf({ rules = {} }: Client, asker: Asker): FetchAccess {
  const { fetchHosts = asker === 'secret' ? 'any' : [], fetchDenyHosts } = rules
  if (fetchHosts.length === 0) throw fetchNotAllowed()
  return {
    ...(fetchHosts === 'any' ? {} : { allowHosts: fetchHosts }),
    ...(fetchDenyHosts ? { denyHosts: fetchDenyHosts } : {}),
  }
}

function fetchNotAllowed(): Problem {
  return new Problem({
    status: 403,
    code: 'fetch_not_allowed',
    detail: 'Remote fetching is not enabled for this client. The operator must allow hosts (fetchHosts).',
  })
}

function remoteStatus(remote: number): Problem {
  const members = { remoteStatus: remote }
  if (remote === 404 || remote === 410) {
    const detail = `The remote server does not have this file: it responded with ${remote}.`
    return new Problem({ status: 404, code: 'remote_not_found', detail, members })
  }
  const detail = `expected the remote server to respond with 200 but received ${remote}`
  return new Problem({ status: 502, code: 'remote_status', detail, members })
}

function urlName(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  return percentDecoded(last) ?? last
}
