import { Upload, type UploadOptions } from 'tus-js-client'
import type { ResumeStore } from '../../../client/upload/resume-store.ts'
import type { Caller, WireRecord } from './client.ts'
import { type Answer, type Call, exchange } from './exchange.ts'

export const TUS = { 'Tus-Resumable': '1.0.0' }
export const OFFSET_STREAM = { 'Content-Type': 'application/offset+octet-stream' }

/** The URLs of unfinished uploads, as localStorage has them in a page. */
export function memoryStore(): ResumeStore & { urls: Map<string, string> } {
  const urls = new Map<string, string>()
  return {
    urls,
    get: (key) => urls.get(key),
    set: (key, url) => void urls.set(key, url),
    delete: (key) => void urls.delete(key),
  }
}

/** A request of tus with the caller's secret. */
export function tus(
  { url, tokens }: Caller,
  target: string,
  { headers, ...call }: Call = {},
): Promise<Answer> {
  return exchange({ url }, target, {
    ...call,
    headers: { ...TUS, Authorization: tokens.secretClientToken, ...headers },
  })
}

/** `Upload-Metadata` of names and values. */
export function metadata(values: Readonly<Record<string, string>>): { 'Upload-Metadata': string } {
  const pairs = Object.entries(values).map(
    ([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`,
  )
  return { 'Upload-Metadata': pairs.join(',') }
}

/** Begins an upload. @returns its address */
export async function begin(
  caller: Caller,
  size: number,
  {
    values = {},
    headers = {},
  }: { values?: Readonly<Record<string, string>>; headers?: Call['headers'] } = {},
): Promise<string> {
  const named = Object.keys(values).length > 0 ? metadata(values) : {}
  const answer = await tus(caller, '/v1/tus', {
    method: 'POST',
    headers: { 'Upload-Length': size, ...named, ...headers },
  })
  if (answer.status !== 201) throw new Error(`not begun: ${answer.status} ${answer.body}`)
  return String(answer.headers.location)
}

/** Sends bytes from an offset on. */
export function patch(
  caller: Caller,
  address: string,
  { offset, body, headers, ...call }: Pick<Call, 'body' | 'headers' | 'signal'> & { offset: number },
): Promise<Answer> {
  return tus(caller, address, {
    ...call,
    method: 'PATCH',
    headers: {
      ...OFFSET_STREAM,
      'Upload-Offset': offset,
      ...(body instanceof Uint8Array ? { 'Content-Length': body.length } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  })
}

/** Uploads bytes as tus-js-client does. @returns the path of the upload */
export async function uploadedByTusJs(bytes: Buffer, options: UploadOptions): Promise<string> {
  const url = await new Promise<string | null>((resolve, reject) => {
    const upload: Upload = new Upload(bytes, {
      retryDelays: null,
      ...options,
      onError: reject,
      onSuccess: () => resolve(upload.url),
    })
    upload.start()
  })
  return new URL(String(url)).pathname
}

/** What a HEAD answers. */
export async function offsetAt(caller: Caller, address: string): Promise<number> {
  const { status, headers } = await tus(caller, address, { method: 'HEAD' })
  if (status !== 200) throw new Error(`no offset: ${status}`)
  return Number(headers['upload-offset'])
}

/** The record that an answer to the last bytes carries. */
export function recordIn({ headers, status }: Answer): WireRecord {
  const text = headers['upload-record']
  if (typeof text !== 'string') throw new Error(`no record in an answer with status ${status}`)
  const [record] = JSON.parse(text) as WireRecord[]
  if (!record) throw new Error('an empty list of records')
  return record
}
