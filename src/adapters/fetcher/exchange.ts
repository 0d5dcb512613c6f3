import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FetchRequest } from '../../core/ports/fetcher.ts'
import { headerText } from '../../core/text/header-text.ts'
import { limitInterim } from './interim.ts'
import { remoteTimeout } from './refusals.ts'

/** What a server may take of us, however slowly or richly it answers. */
export interface ExchangeLimits {
  /** For the name's addresses, and again for TCP and TLS together. */
  connectMs: number
  /** From the request's last byte to the head's last. */
  headersMs: number
  /** Between two pieces of the body, while we are ready to read. */
  bodyIdleMs: number
  /** Of the head, and of all interim responses (1xx) before it together. */
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
 * connection made under other rules, nor one that the server is just closing. By Node's own client: undici 7, the last for
 * Node 20, ends the process when a server closes while its body waits for a reader (nodejs/undici issue 5360).
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
}: Exchange): Promise<Answer> {
  const request = (url.protocol === 'https:' ? requestSecure : requestPlain)(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
    // A new one, which keeps no connection; it tries all addresses of a name, as Node's default has it.
    agent: false,
    // Called for names; a literal address has been checked as it stands and needs no lookup.
    lookup: answering(addresses),
    maxHeaderSize: limits.headerBytes,
    ...(ca === undefined ? {} : { ca }),
  })
  // Not Node's own `signal`: it ends the connection, which is how a body without a length ends well.
  let answered: IncomingMessage | undefined
  const leave = () => (answered ?? request).destroy(asError(signal.reason))
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  request.once('close', () => signal.removeEventListener('abort', leave))
  limitInterim(request, limits.headerBytes)
  const response = await responseOf(request, body, limits)
  answered = response
  const { socket } = request
  if (socket) watchIdle(response, { socket, idleMs: limits.bodyIdleMs })
  // A body that nobody listens to yet must not end the process when it breaks.
  response.on('error', () => {})
  // Node takes a reset for the end of a body without a length.
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
    // Written only once there is a connection, with TLS around it.
    request.once('finish', () => {
      clearTimeout(timer)
      timer = setTimeout(tooSlow, headersMs)
    })
    request.once('response', (response) => {
      // Given up while the same packet was parsed: its error comes with the next tick.
      if (request.destroyed) return
      clearTimeout(timer)
      resolve(response)
    })
    request.once('close', () => {
      clearTimeout(timer)
      // Without an error where the server goes on with another protocol.
      reject(new Error('the connection was closed without an answer'))
    })
    request.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    request.end(body)
  })
}

/** Ends a body when its server has sent nothing for too long, unless it is us who do not read. */
function watchIdle(response: IncomingMessage, { socket, idleMs }: { socket: Socket; idleMs: number }): void {
  socket.setTimeout(idleMs)
  socket.on('timeout', () => {
    const waitsForUs = response.isPaused() || response.readableLength > 0
    if (waitsForUs) socket.setTimeout(idleMs)
    else response.destroy(remoteTimeout())
  })
}

function answering(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    if (options.all) callback(null, answers)
    else callback(null, answers[0]?.address ?? '', answers[0]?.family ?? 0)
  }
}

/** With all that came several times: Node would keep the first of some in silence. */
function headersOf({ headersDistinct }: IncomingMessage): Answer['headers'] {
  return Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => {
      const texts = values.map(headerText)
      return [name, texts.length > 1 ? texts : texts[0]]
    }),
  )
}
