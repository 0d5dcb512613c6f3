import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import type { Client } from 'undici'
import type { FetchRequest } from '../../core/ports/fetcher.ts'

/** What a server may take of us, however slowly or richly it answers. */
export interface ExchangeLimits {
  /** For the name's addresses, and again for TCP and TLS together. */
  connectMs: number
  /** From the request's last byte to the head's last. */
  headersMs: number
  /** Between two pieces of the body, while we are ready to read. */
  bodyIdleMs: number
  headerBytes: number
}

export interface Exchange {
  url: URL
  /** The only ones to connect to. */
  addresses: readonly string[]
  method: NonNullable<FetchRequest['method']>
  headers: Readonly<Record<string, string>>
  body: FetchRequest['body'] | undefined
  signal: AbortSignal
  limits: ExchangeLimits
  /** Certificate authorities in PEM; by default those of Node. */
  ca?: string | undefined
}

export interface Answer {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Readable
}

/**
 * One request over a connection of its own, which ends with the body. Nothing is shared between requests: neither a
 * connection made under other rules, nor one that the server is just closing.
 */
export async function exchange({ url, addresses, limits, ca, ...request }: Exchange): Promise<Answer> {
  // Only now: it is 8 MB of memory, and most installations tell nobody of events.
  const { Client } = await import('undici')
  const client = new Client(url.origin, {
    connect: {
      // Called for names; a literal address has been checked as it stands and needs no lookup.
      lookup: answering(addresses),
      autoSelectFamily: true,
      timeout: limits.connectMs,
      ...(ca === undefined ? {} : { ca }),
    },
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.bodyIdleMs,
    maxHeaderSize: limits.headerBytes,
  })
  try {
    const { statusCode, headers, body } = await client.request({
      path: url.pathname + url.search,
      reset: true,
      ...request,
      body: request.body ?? null,
    })
    // A body that nobody listens to yet must not end the process when it breaks.
    body.on('error', () => {})
    // Else undici connects once more for a request that was broken off, finds nothing to ask, and stays connected.
    body.once('close', () => close(client))
    return { status: statusCode, headers, body }
  } catch (error) {
    close(client)
    throw error
  }
}

function answering(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    if (options.all) callback(null, answers)
    else callback(null, answers[0]?.address ?? '', answers[0]?.family ?? 0)
  }
}

function close(client: Client): void {
  client.destroy().catch(() => {})
}
