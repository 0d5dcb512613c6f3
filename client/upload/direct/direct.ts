import type { DirectUpload, FileRecord } from '../../generated/api.ts'
import { SluiceError } from '../../http/problem.ts'
import { backoffMs, waitAsAsked } from '../../http/retry.ts'
import { wait } from '../../http/wait.ts'
import type { UploadOptions } from '../options.ts'
import { type Created, deleteUpload, GONE, isTransient, type ResumeEntry, unfinished } from '../tus.ts'
import { bucketAccessOf } from './bucket-access.ts'
import { isStale, type MissingParts, type PartsUpload, sendParts } from './parts.ts'

// In this module, which is loaded on first use as well: a module of its own would need more bytes in a bundle.
export { openPath } from '../path.ts'

/** A file of known size that is sent straight to the bucket. Its bytes can be read again. */
export interface BucketUpload extends PartsUpload {
  /** As in the options: undefined when the service decides whether it is the better way. */
  direct: boolean | undefined
  /** What is stored with the file. A link has its own folder. */
  options?: Pick<UploadOptions, 'folder' | 'tags' | 'metadata' | 'focalPoint'>
  /** Returns the signed link that authorizes the upload, in place of the secret. Not called for a resume. */
  link?: () => Promise<string>
  resume: ResumeEntry | undefined
  /** Whether its beginning waits when the service is busy. Default: true. */
  retries?: boolean
}

/** The record of a file, and whether an earlier call has begun its upload, with the options of that call. */
export interface DirectRecord {
  record: FileRecord
  isResumed: boolean
}

interface Begun {
  created: Created
  missing: MissingParts | undefined
  /** Set when the service was asked to store it. From then on, it may store it by itself, also after a refusal. */
  isCompleting?: boolean
}

// How often the missing requests are signed again while no part arrives.
const ROUNDS = 5
// How often in a row the service may fail. A request without a response has been tried for a minute.
const FAILURES = 10
const NOT_LISTED = 'The service does not find the parts.'

/**
 * Sends a large file to the bucket in one or more requests, each of which is retried by itself, and has the service store it. An upload
 * that was interrupted continues with the parts that the bucket does not have.
 *
 * @returns undefined when the service does not offer it, or the bucket accepts nothing from here, for example a page that its CORS rules
 *   do not name. Then the file has to be sent to the service. Both are remembered for a while
 * @throws SluiceError when the upload is refused, or when the bucket accepts nothing for two minutes
 */
export async function uploadDirectly(upload: BucketUpload): Promise<DirectRecord | undefined> {
  const { api, source, direct, resume } = upload
  let stored = resume && (await unfinished(resume))
  // An upload continues in the way in which it has begun.
  if ((stored && !stored.isDirect) || source.size === 0) return undefined
  if (stored && direct === false && !(await isReceived(upload, stored))) return undefined
  for (; ; stored = undefined) {
    const begun: Begun | undefined = stored ? { created: stored, missing: undefined } : await begin(upload)
    if (!begun) return undefined
    const { created } = begun
    if (!stored) await resume?.store.set(resume.key, JSON.stringify(created))
    try {
      const record = await transfer(upload, begun)
      await resume?.store.delete(resume.key)
      return record && { record, isResumed: stored !== undefined }
    } catch (error) {
      const isLater = begun.isCompleting && isRefusedNow(error)
      if (!(error instanceof SluiceError) || isTransient(error) || isLater) {
        // An aborted upload can be resumed later, but not without its URL. One that was interrupted may be complete, and be stored.
        if (!resume && !(error instanceof SluiceError)) void deleteUpload(api, created)
        throw error
      }
      await resume?.store.delete(resume.key)
      // The service has deleted the stored upload, or it belongs to another client.
      if (stored && error.problem && GONE.includes(error.status)) continue
      if (!begun.isCompleting) await deleteUpload(api, created)
      throw error
    }
  }
}

/** Whether the service may store a complete upload later, although it refuses it now. */
function isRefusedNow(error: unknown): boolean {
  if (!(error instanceof SluiceError)) return false
  return error.status === 403 || ['storage_full', 'link_busy'].includes(error.code)
}

/** Whether the bucket has all bytes of a stored upload. */
async function isReceived(upload: BucketUpload, stored: Created): Promise<boolean> {
  try {
    return (await missingOf(upload, stored)).missingBytes === 0
  } catch (error) {
    if (error instanceof SluiceError && !isTransient(error)) return false
    throw error
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
  if (direct === false) return undefined
  const target = link && (await link())
  const access = bucketAccessOf(api, target)
  const isAutomatic = direct === undefined
  if (access.isAvoided(isAutomatic)) return undefined
  const { folder, tags, metadata, focalPoint } = options
  try {
    const { id, url, ...begun } = await api.json<DirectUpload>({
      method: 'POST',
      path: target === undefined ? '/v1/upload/direct' : directUrlOf(target),
      isAnonymous: target !== undefined,
      // A second upload without bytes expires by itself. But it would take a use of a link.
      isIdempotent: target === undefined,
      waits: retries,
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
    return { created: { url: own, isLink: target !== undefined, isDirect: true }, missing: missingIn(begun) }
  } catch (error) {
    // The last two are the responses of earlier versions.
    const off = ['direct_uploads_off', 'route_not_found', 'method_not_allowed']
    if (!(error instanceof SluiceError) || !off.includes(error.code)) throw error
    access.avoid(isAutomatic ? 'automatic' : 'all')
    return undefined
  }
}

/** The service of a signed link. It may be below a path of its host. */
function directUrlOf(link: string): string {
  return link.replace(/\/v1\/upload\/sign\/.*$/, '/v1/upload/direct')
}

/** @returns undefined when the bucket accepts nothing from here. Then the upload is deleted, so that its link is free */
async function transfer(upload: BucketUpload, begun: Begun): Promise<FileRecord | undefined> {
  const { api, source, onProgress, signal } = upload
  const { created } = begun
  const access = bucketAccessOf(api, created.isLink ? created.url : undefined)
  let missing = begun.missing ?? (await missingOf(upload, created))
  let leastBytes = missing.missingBytes
  /** @returns whether more bytes have arrived than ever before */
  const renew = async (caller: Caller) => {
    missing = await missingOf(caller, created)
    const isLess = missing.missingBytes < leastBytes
    if (isLess) leastBytes = missing.missingBytes
    return isLess
  }
  for (let rounds = 1; ; rounds += 1) {
    try {
      if (!(await sendParts(upload, access, missing))) break
      if (bytesOf(missing.requests) < missing.missingBytes) {
        // Of a file of thousands of parts, the service signs some at a time.
        if (await renew({ ...upload, resume: undefined })) rounds = 0
        else if (rounds === ROUNDS) throw new SluiceError(NOT_LISTED, { code: 'bad_response' })
        continue
      }
      begun.isCompleting = true
      const record = await complete(upload, created)
      onProgress?.({ sentBytes: record.size, totalBytes: source.size })
      return record
    } catch (error) {
      if (!isStale(error)) throw error
      if (rounds === ROUNDS) {
        if (missing.missingBytes === source.size) break
        throw error
      }
      await wait(backoffMs(rounds - 1), signal)
      if (await renew(upload)) rounds = 0
    }
  }
  // A lost network is not the fault of the bucket.
  const request = { method: 'DELETE', path: created.url, isAnonymous: created.isLink, signal } as const
  await api.send({ ...request, retries: false }).catch((error) => {
    if (!(error instanceof SluiceError) || isTransient(error)) throw error
  })
  access.avoid('all')
  return undefined
}

type Caller = Pick<BucketUpload, 'api' | 'signal' | 'resume'>

const bytesOf = (requests: MissingParts['requests']) => requests.reduce((sum, { size }) => sum + size, 0)

/** The missing parts in a response. An earlier version of the service returns the requests for all of them. */
function missingIn({ requests, missingBytes }: Partial<DirectUpload>): MissingParts {
  return { requests: requests ?? [], missingBytes: missingBytes ?? bytesOf(requests ?? []) }
}

/** The requests for the parts that the bucket does not have, signed again. */
async function missingOf({ api, signal, resume }: Caller, { url, isLink }: Created): Promise<MissingParts> {
  const ask = () => api.json<DirectUpload>({ path: url, isAnonymous: isLink, signal })
  // An upload that is stored can be resumed later: the caller may show why it waits.
  return missingIn(await (resume ? ask() : patiently(ask, signal)))
}

/** The record of the file, which may take a while to be stored. */
async function complete({ api, signal, resume }: Caller, { url, isLink }: Created): Promise<FileRecord> {
  const request = {
    method: 'POST',
    path: `${url}/complete`,
    isAnonymous: isLink,
    isIdempotent: true,
    signal,
  } as const
  for (let failures = resume ? 1 : FAILURES; ; failures = FAILURES) {
    const response = await patiently(() => api.send(request), signal, failures)
    const [record] = response.status === 200 ? ((await response.json()) as FileRecord[]) : []
    if (record) return record
    if (response.status !== 202)
      throw new SluiceError('The response has no record.', { code: 'bad_response' })
    await waitAsAsked(response, signal)
  }
}

/**
 * Waits for the rate limit of the service, and for a service that restarts, so that no sent bytes are lost. An upload without another
 * part expires, which ends this.
 */
async function patiently<T>(
  ask: () => Promise<T>,
  signal: AbortSignal | undefined,
  failuresMax = FAILURES,
): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      if (error.code !== 'rate_limited') failures += 1
      if (failures === failuresMax || !isTransient(error)) throw error
      await wait(Math.max(1000 * (error.retryAfter ?? 0), backoffMs(failures)), signal)
    }
  }
}
