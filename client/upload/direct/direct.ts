import type { DirectUpload, FileRecord } from '../../generated/api.ts'
import { SluiceError } from '../../http/problem.ts'
import type { Api } from '../../http/request.ts'
import { wait } from '../../http/wait.ts'
import type { UploadOptions } from '../options.ts'
import {
  type Created,
  deleteUpload,
  discardUnfinished,
  GONE,
  isTransient,
  type ResumeEntry,
  unfinished,
} from '../tus.ts'
import { type PartsUpload, sendParts } from './parts.ts'
import { placeOf } from './places.ts'

/** A file of known size that is sent straight to the bucket. Its bytes can be read again. */
export interface BucketUpload extends PartsUpload {
  /** As in the options: undefined when the service decides whether it is the better way. */
  direct: boolean | undefined
  /** What is stored with the file. A link has its own folder. */
  options?: Pick<UploadOptions, 'folder' | 'tags' | 'metadata' | 'focalPoint'>
  /** Returns the signed link that authorizes the upload, in place of the secret. Not called for a resume. */
  link?: () => Promise<string>
  resume: ResumeEntry | undefined
  /** Whether its beginning is retried. Default: true. */
  retries?: boolean
}

/** The record of a file, and whether an earlier call has begun its upload, with the options of that call. */
export interface DirectRecord {
  record: FileRecord
  isResumed: boolean
}

type Part = DirectUpload['requests'][number]

interface Begun {
  created: Created
  requests: Part[]
}

// How often the missing requests are signed again. A day has two lifetimes of their URLs.
const ROUNDS = 5

/**
 * Sends a large file straight to the bucket, or continues to do so.
 *
 * @returns undefined when the file has to be sent to the service
 * @throws as {@link uploadToBucket}
 */
export async function uploadDirectly(upload: BucketUpload): Promise<DirectRecord | undefined> {
  const { api, source, direct, resume } = upload
  const stored = resume && (await unfinished(resume))
  if (direct === false && resume && stored?.isDirect) await discardUnfinished(api, resume)
  // An upload continues in the way in which it has begun.
  if (direct === false || (stored && !stored.isDirect) || source.size === 0) return undefined
  return uploadToBucket(upload)
}

/**
 * Sends a file to the bucket in one or more requests, each of which is retried by itself, and has the service store it. An upload that
 * was interrupted continues with the parts that the bucket does not have.
 *
 * @returns undefined when the service does not offer it, or the bucket accepts nothing from here, for example a page that its CORS rules
 *   do not name. Then the file has to be sent to the service. Both are remembered for a while
 * @throws SluiceError when the upload is refused, or when the bucket accepts nothing for two minutes
 */
async function uploadToBucket(upload: BucketUpload): Promise<DirectRecord | undefined> {
  const { api, resume } = upload
  for (let stored = resume && (await unfinished(resume)); ; stored = undefined) {
    const begun = stored ? { created: stored, requests: undefined } : await begin(upload)
    if (!begun) return undefined
    const { created, requests } = begun
    if (!stored) await resume?.store.set(resume.key, JSON.stringify(created))
    try {
      const record = await transfer(upload, created, requests)
      await resume?.store.delete(resume.key)
      return record && { record, isResumed: stored !== undefined }
    } catch (error) {
      // Without its URL, it cannot be resumed.
      if (!resume) void deleteUpload(api, created)
      // An aborted or interrupted upload can be resumed later.
      if (!(error instanceof SluiceError) || isTransient(error)) throw error
      await resume?.store.delete(resume.key)
      // The stored upload has expired, or belongs to another client.
      if (!stored || !GONE.includes(error.status)) throw error
    }
  }
}

async function begin({
  api,
  source,
  link,
  signal,
  direct,
  retries = true,
  options = {},
}: BucketUpload): Promise<Begun | undefined> {
  const target = link && (await link())
  const place = placeOf(api, target)
  const isAutomatic = direct === undefined
  if (place.isAvoided(isAutomatic)) return undefined
  const { folder, tags, metadata, focalPoint } = options
  try {
    const { id, url, requests } = await api.json<DirectUpload>({
      method: 'POST',
      path: target === undefined ? '/v1/upload/direct' : directUrlOf(target),
      isAnonymous: target !== undefined,
      // A second upload without bytes expires by itself. But it would take a use of a link.
      isIdempotent: target === undefined,
      retries,
      json: {
        name: source.name || 'file',
        size: source.size,
        ...(isAutomatic ? { automatic: true } : {}),
        ...(target === undefined ? { folder, tags, metadata, focalPoint } : { link: target }),
      },
      signal,
    })
    // BASE_URL may be another address of the service. The secret is sent only to the address that the caller has given.
    const own = target === undefined ? api.urlOf(`/v1/upload/direct/${id}`) : url
    return { created: { url: own, isLink: target !== undefined, isDirect: true }, requests }
  } catch (error) {
    // The last two are the responses of earlier versions.
    const off = ['direct_uploads_off', 'route_not_found', 'method_not_allowed']
    if (!(error instanceof SluiceError) || !off.includes(error.code)) throw error
    place.avoid(isAutomatic ? 'automatic' : 'all')
    return undefined
  }
}

/** The service of a signed link. It may be below a path of its host. */
function directUrlOf(link: string): string {
  return link.replace(/\/v1\/upload\/sign\/.*$/, '/v1/upload/direct')
}

/** @returns undefined when the bucket accepts nothing from here. Then the upload is deleted, so that its link is free */
async function transfer(
  upload: BucketUpload,
  created: Created,
  first: Part[] | undefined,
): Promise<FileRecord | undefined> {
  const { api, source, onProgress, signal } = upload
  const common = { path: created.url, isAnonymous: created.isLink, signal }
  const place = placeOf(api, created.isLink ? created.url : undefined)
  const missing = async () => (await api.json<DirectUpload>(common)).requests
  let requests = first ?? (await missing())
  for (let rounds = 1; ; rounds += 1) {
    try {
      if (!(await sendParts(upload, place, requests))) {
        // A lost network is not the fault of the bucket.
        await api.send({ ...common, method: 'DELETE', retries: false }).catch((error) => {
          if (!(error instanceof SluiceError) || isTransient(error)) throw error
        })
        place.avoid('all')
        return undefined
      }
      const record = await complete(api, created, signal)
      onProgress?.({ sentBytes: record.size, totalBytes: source.size })
      return record
    } catch (error) {
      if (!isStale(error) || rounds === ROUNDS) throw error
      requests = await missing()
    }
  }
}

/** Whether URLs have expired, or the bucket has lost a part. */
function isStale(error: unknown): boolean {
  if (!(error instanceof SluiceError)) return false
  return error.code === 'upload_incomplete' || (error.status === 403 && !error.problem)
}

/** The record of the file, which may take a while to be stored. */
async function complete(
  api: Api,
  { url, isLink }: Created,
  signal: AbortSignal | undefined,
): Promise<FileRecord> {
  const request = {
    method: 'POST',
    path: `${url}/complete`,
    isAnonymous: isLink,
    isIdempotent: true,
    signal,
  } as const
  for (;;) {
    const response = await api.send(request)
    const [record] = response.status === 200 ? ((await response.json()) as FileRecord[]) : []
    if (record) return record
    if (response.status !== 202)
      throw new SluiceError('The response has no record of the uploaded file.', { code: 'bad_response' })
    const seconds = Number(response.headers.get('Retry-After') ?? 2)
    await wait(1000 * (Number.isFinite(seconds) ? seconds : 2), signal)
  }
}
