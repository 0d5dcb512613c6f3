import { createHmac } from 'node:crypto'
import type { Service } from '../service.ts'

/** The ten fields of an uploaded file's record. */
export interface WireRecord {
  sourceName: string
  src: string
  originalSrc: string
  originalName: string
  s3PathOriginal: string
  s3Path: string
  options: object
  size: number
  mimeType: string
  format: string
}

export interface FileToUpload {
  name: string
  bytes: Uint8Array | string
  /** What the sender claims. */
  type?: string
}

/** The caller and the service. */
export type Caller = Pick<Service, 'url' | 'tokens'>

/** A further client of a service, with its own tokens. */
export async function newClient({ app, url }: Service): Promise<Caller & { id: string }> {
  const { client, tokens } = await app.clients.create()
  return { url, tokens, id: client.id }
}

/** Sends files to `POST /v1/upload` as the parts named `file`. */
export async function postFiles(
  { url, tokens }: Caller,
  files: readonly FileToUpload[],
  { path, secret = tokens.secretClientToken }: { path?: string; secret?: string } = {},
): Promise<Response> {
  const form = new FormData()
  for (const { name, bytes, type } of files)
    form.append('file', new Blob([bytes], type ? { type } : {}), name)
  const query = path === undefined ? '' : `?path=${encodeURIComponent(path)}`
  return fetch(`${url}/v1/upload${query}`, { method: 'POST', headers: { Authorization: secret }, body: form })
}

/** Uploads one file that must be accepted. */
export async function uploadOne(
  service: Caller,
  file: FileToUpload,
  options: { path?: string; secret?: string } = {},
): Promise<WireRecord> {
  const response = await postFiles(service, [file], options)
  if (response.status !== 200)
    throw new Error(`the upload was refused: ${response.status} ${await response.text()}`)
  const [record] = (await response.json()) as WireRecord[]
  if (!record) throw new Error('the upload answered no record')
  return record
}

/** `POST /v1/zip`. */
export async function postZip(
  { url, tokens }: Caller,
  body: unknown,
  { secret = tokens.secretClientToken } = {},
): Promise<Response> {
  return fetch(`${url}/v1/zip`, {
    method: 'POST',
    headers: { Authorization: secret, 'Content-Type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/**
 * The path of `GET /v1/bucket/<token>/<key>`, the raw bytes, which every backend has. The key is that of the
 * record.
 */
export function rawPath({ tokens }: Pick<Caller, 'tokens'>, key: string): string {
  return `/v1/bucket/${tokens.clientToken}/${key.split('/').map(encodeURIComponent).join('/')}`
}

/** `DELETE /v1/upload/<key>` with the key of the record. */
export async function deleteFile(
  { url, tokens }: Caller,
  key: string,
  { secret = tokens.secretClientToken } = {},
): Promise<Response> {
  return fetch(`${url}/v1/upload/${key.split('/').map(encodeURIComponent).join('/')}`, {
    method: 'DELETE',
    headers: { Authorization: secret },
  })
}

/** A path and query with its signature, as docs/how-to/signed-delivery.md has it. */
export function signed(target: string, { version, key }: { version: number; key: string }): string {
  const signature = createHmac('sha256', key).update(target).digest('base64url')
  return `${target}${target.includes('?') ? '&' : '?'}s=${version}.${signature}`
}
