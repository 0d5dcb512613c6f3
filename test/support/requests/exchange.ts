import { once } from 'node:events'
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { SLOWNESS } from '../eventually.ts'
import type { Service } from '../service.ts'

// For a slow machine. A test that fails ends then.
const PATIENCE_MS = 45_000 * SLOWNESS
const LONGEST_WAIT = 'wait=30'

/** An answer that has come to its end. */
export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Names and values in turn, as they came. */
  rawHeaders: string[]
  body: Buffer
}

export interface Call {
  method?: string
  headers?: OutgoingHttpHeaders
  body?: string | Uint8Array | Readable
  signal?: AbortSignal
}

/**
 * One request over node:http and its whole response. The path is sent unchanged: fetch would resolve its `..`. A request that waits for a job as long as
 * it may is repeated on a slow machine.
 *
 * @param target a path, or an address of the service itself
 * @throws when the connection ends before the answer does
 */
export async function exchange(
  service: Pick<Service, 'url'>,
  target: string,
  call: Call = {},
): Promise<Answer> {
  const most = target.includes(LONGEST_WAIT) ? SLOWNESS : 1
  for (let tries = 1; ; tries += 1) {
    const answer = await exchangeOnce(service, target, call)
    if (answer.status !== 423 || tries >= most) return answer
  }
}

async function exchangeOnce(
  { url }: Pick<Service, 'url'>,
  target: string,
  { method = 'GET', headers = {}, body, signal }: Call,
): Promise<Answer> {
  const path = target.startsWith(url) ? target.slice(url.length) : target
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, path, headers, ...(signal ? { signal } : {}) }, async (response) => {
      try {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        const { statusCode: status = 0, headers, rawHeaders } = response
        resolve({ status, headers, rawHeaders, body: Buffer.concat(chunks) })
      } catch (error) {
        reject(error)
      }
    })
    sent.once('error', reject)
    if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) body.pipe(sent)
    else sent.end(body)
  })
}

/** The members of a problem document, or of any JSON answer. */
export function jsonOf({ body }: Pick<Answer, 'body'>): Record<string, unknown> {
  return JSON.parse(body.toString('utf8'))
}

/** A connection on which bytes go out exactly as given. */
export async function openSocket({ url }: Pick<Service, 'url'>): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

/** Writes these bytes on a new connection and reads until the server closes it. */
export async function sendBytes(service: Pick<Service, 'url'>, bytes: string | Uint8Array): Promise<string> {
  const socket = await openSocket(service)
  const answer = received(socket)
  socket.write(bytes)
  return answer
}

/** All that comes on a connection until its end, as Latin-1. @throws when it does not end */
export async function received(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  let isOver = false
  const over = setTimeout(() => {
    isOver = true
    socket.destroy()
  }, PATIENCE_MS)
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  // Not `once` of node:events, which fails with the error of a reset or of a write after the other side's end.
  await new Promise((closed) => socket.once('close', closed))
  clearTimeout(over)
  const text = Buffer.concat(chunks).toString('latin1')
  if (isOver) throw new Error(`the server has not closed the connection, after ${text.slice(-500)}`)
  return text
}
