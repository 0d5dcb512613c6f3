import type { Bucket } from '../../../src/core/ports/bucket.ts'
import type { Caller, WireRecord } from '../requests/client.ts'
import { type Answer, exchange, jsonOf } from '../requests/exchange.ts'

/** The response of `POST /v1/upload/direct`. */
export interface Begun {
  id: string
  url: string
  state: string
  expiresAt: string
  requests: Array<{
    method: string
    url: string
    headers: Record<string, string>
    start: number
    size: number
  }>
  missingBytes: number
}

/** The smallest part that S3 accepts, in bytes. */
export const PART_BYTES = 5 * 1024 ** 2

/** For `wrapBuckets`: direct uploads have parts of {@link PART_BYTES}, so that a file of several parts is small. */
export const inSmallParts = ({ permitPut }: Bucket): Partial<Bucket> =>
  permitPut ? { permitPut: (key, options) => permitPut(key, { ...options, partBytes: PART_BYTES }) } : {}

/** For `wrapBuckets`: as {@link inSmallParts}, and the requests for the parts are signed one by one. */
export const oneByOne = ({ permitPut }: Bucket): Partial<Bucket> =>
  permitPut
    ? { permitPut: (key, options) => permitPut(key, { ...options, partBytes: PART_BYTES, putsMax: 1 }) }
    : {}

/** Begins a direct upload. A `link` in the body authorizes in place of the secret. */
export function askDirect({ url, tokens }: Caller, body: object): Promise<Answer> {
  return exchange({ url }, '/v1/upload/direct', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...('link' in body ? {} : { Authorization: tokens.secretClientToken }),
    },
    body: JSON.stringify(body),
  })
}

/** Begins one that must be accepted. */
export async function begunDirect(caller: Caller, body: object): Promise<Begun> {
  const answer = await askDirect(caller, body)
  if (answer.status !== 201) throw new Error(`no direct upload: ${answer.status} ${answer.body}`)
  return jsonOf(answer) as unknown as Begun
}

/** Sends one request to the bucket. */
export async function put(
  { method, url, headers, start, size }: Begun['requests'][number],
  bytes: Uint8Array,
): Promise<number> {
  const body = bytes.subarray(start, start + size)
  const response = await fetch(url, { method, headers, body })
  await response.arrayBuffer()
  return response.status
}

/** Sends the file to the bucket. */
export async function putAll({ requests }: Begun, bytes: Uint8Array): Promise<void> {
  for (const request of requests) {
    const status = await put(request, bytes)
    if (status !== 200) throw new Error(`the bucket has refused a part: ${status}`)
  }
}

export function completeDirect({ url, tokens }: Caller, begun: Pick<Begun, 'url'>): Promise<Answer> {
  const path = `${new URL(begun.url).pathname}/complete`
  const headers = begun.url.includes('~') ? {} : { Authorization: tokens.secretClientToken }
  return exchange({ url }, path, { method: 'POST', headers })
}

/** Asks what is missing. */
export function askRest({ url, tokens }: Caller, begun: Pick<Begun, 'url'>): Promise<Answer> {
  const headers = begun.url.includes('~') ? {} : { Authorization: tokens.secretClientToken }
  return exchange({ url }, new URL(begun.url).pathname, { headers })
}

/** What is missing of an upload that must exist. */
export async function restOf(caller: Caller, begun: Pick<Begun, 'url'>): Promise<Begun> {
  const answer = await askRest(caller, begun)
  if (answer.status !== 200) throw new Error(`no direct upload: ${answer.status} ${answer.body}`)
  return jsonOf(answer) as unknown as Begun
}

export function abortDirect({ url, tokens }: Caller, begun: Pick<Begun, 'url'>): Promise<Answer> {
  const headers = begun.url.includes('~') ? {} : { Authorization: tokens.secretClientToken }
  return exchange({ url }, new URL(begun.url).pathname, { method: 'DELETE', headers })
}

/** The record of a completed upload. */
export function recordOf(answer: Answer): WireRecord {
  if (answer.status !== 200) throw new Error(`not complete: ${answer.status} ${answer.body}`)
  return (jsonOf(answer) as unknown as WireRecord[])[0] as WireRecord
}
