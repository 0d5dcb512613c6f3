import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FetchRequest } from '../../core/ports/fetcher.ts'
import { headerText } from '../../core/text/header-text.ts'
import { limitInterim } from './interim.ts'
import { remoteTimeout } from './refusals.ts'

/** Limits for one server. Times in milliseconds. */
export interface ExchangeLimits {
  /** For name resolution, and again for TCP and TLS together. */
  connectMs: number
  /** From the last byte of the request to the last byte of the response header. */
  headersMs: number
  /** Between two chunks of the body, while we are ready to read. */
  bodyIdleMs: number
  /** Maximum of the response header, and of all interim responses (1xx) together. */
  headerBytes: number
}

/** One request to a remote server. */
export interface Exchange {
  url: URL
  /** The only IP addresses to connect to. */
  addresses: readonly string[]
  method: NonNullable<FetchRequest['method']>
  headers: Readonly<Record<string, string>>
  body: FetchRequest['body'] | undefined
  signal: AbortSignal
  limits: ExchangeLimits
  /** Certificate authorities in PEM; by default those of Node. */
  ca?: string | undefined
}

/** A response whose headers were received. `body` is not decoded. */
export interface ReceivedResponse {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Readable
}

/**
 * Sends one request over a connection of its own, which is closed after the body. Requests share no connection: one may
 * have been opened under other rules, or may just be closing. It uses Node's own client: undici 7, the last for Node 20,
 * ends the process when a server closes while its body waits for a reader (nodejs/undici issue 5360).
 */
export async function exchange({
  url,
  addresses,
  method,
  headers,
  body,
  signal,
  limits,
  ca,
}: Exchange): Promise<ReceivedResponse> {
  const request = (url.protocol === 'https:' ? requestSecure : requestPlain)(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
    // A new agent, which reuses no connection. It tries all addresses of a name, as Node does by default.
    agent: false,
    // Called for names. A literal address was checked directly and needs no lookup.
    lookup: lookupOf(addresses),
    maxHeaderSize: limits.headerBytes,
    ...(ca === undefined ? {} : { ca }),
  })
  // Not Node's own `signal`: it closes the connection, which looks like the normal end of a body without a length.
  let received: IncomingMessage | undefined
  const leave = () => (received ?? request).destroy(asError(signal.reason))
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  request.once('close', () => signal.removeEventListener('abort', leave))
  limitInterim(request, limits.headerBytes)
  const response = await responseOf(request, body, limits)
  received = response
  const { socket } = request
  if (socket) watchIdle(response, { socket, idleMs: limits.bodyIdleMs })
  // A body may fail before anything listens to it. That must not end the process.
  response.on('error', () => {})
  // Node takes a connection reset for the normal end of a body without a length.
  request.on('error', (error) => {
    if (!response.complete) response.destroy(error)
  })
  response.once('close', () => request.destroy())
  return { status: response.statusCode ?? 0, headers: headersOf(response), body: response }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}

function responseOf(
  request: ClientRequest,
  body: Exchange['body'],
  { connectMs, headersMs }: ExchangeLimits,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let timer = setTimeout(tooSlow, connectMs)
    function tooSlow() {
      request.destroy(remoteTimeout())
    }
    // `finish` comes only when the connection, with TLS, is open.
    request.once('finish', () => {
      clearTimeout(timer)
      timer = setTimeout(tooSlow, headersMs)
    })
    request.once('response', (response) => {
      // The request was destroyed while the same packet was parsed. Its error follows in the next tick.
      if (request.destroyed) return
      clearTimeout(timer)
      resolve(response)
    })
    request.once('close', () => {
      clearTimeout(timer)
      // The connection closes without an error when the server switches to another protocol.
      reject(new Error('the connection was closed without a response'))
    })
    request.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    request.end(body)
  })
}

/** Fails a body when its server sends nothing for too long. Time during which we do not read does not count. */
function watchIdle(response: IncomingMessage, { socket, idleMs }: { socket: Socket; idleMs: number }): void {
  socket.setTimeout(idleMs)
  socket.on('timeout', () => {
    const waitsForUs = response.isPaused() || response.readableLength > 0
    if (waitsForUs) socket.setTimeout(idleMs)
    else response.destroy(remoteTimeout())
  })
}

function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    if (options.all) callback(null, found)
    else callback(null, found[0]?.address ?? '', found[0]?.family ?? 0)
  }
}

/** Includes all values of repeated headers: Node would silently drop all but the first of some. */
function headersOf({ headersDistinct }: IncomingMessage): ReceivedResponse['headers'] {
  return Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => {
      const texts = values.map(headerText)
      return [name, texts.length > 1 ? texts : texts[0]]
    }),
  )
}
