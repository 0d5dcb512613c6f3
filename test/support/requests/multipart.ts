import type { Caller } from './client.ts'
import { type Answer, exchange } from './exchange.ts'

/** A part of a form, its header lines as given. */
export interface RawPart {
  /** The parameters of `Content-Disposition: form-data; …`. */
  disposition: string
  bytes?: Uint8Array | string
  type?: string
}

export const BOUNDARY = 'the-boundary'
export const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`

/** A form byte by byte: FormData would escape and repair what tests want to send. */
export function multipart(parts: readonly RawPart[], { end = true } = {}): Buffer {
  const chunks: Buffer[] = []
  for (const { disposition, bytes = '', type } of parts) {
    const contentType = type === undefined ? '' : `Content-Type: ${type}\r\n`
    chunks.push(
      Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${contentType}\r\n`),
      Buffer.from(bytes),
      Buffer.from('\r\n'),
    )
  }
  if (end) chunks.push(Buffer.from(`--${BOUNDARY}--\r\n`))
  return Buffer.concat(chunks)
}

/** `POST /v1/upload` with a body byte by byte. */
export async function postForm(
  service: Caller,
  body: Uint8Array | readonly RawPart[],
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return exchange(service, `/v1/upload${query}`, {
    method: 'POST',
    headers: { Authorization: service.tokens.secretClientToken, 'Content-Type': MULTIPART, ...headers },
    body: body instanceof Uint8Array ? body : multipart(body),
  })
}
