import { createUrls } from '../access/urls.ts'
import { buildUrl, withoutSignature } from '../delivery/build-url.ts'
import { queryOf } from '../delivery/query.ts'
import type { FileInformation, FileRecord, FileWithDerivatives } from '../generated/api.ts'
import { SluiceError } from '../http/problem.ts'
import { type Api, encodedPath } from '../http/request.ts'
import type { UploadOptions } from './options.ts'

// The lifetime of `src`.
const SRC_SECONDS = 86_400

/**
 * Does for a resumable upload what a form does with its fields: tus itself only takes a name and a folder.
 *
 * @throws SluiceError when an annotation is invalid. The file is stored then
 */
export async function completeAfterTus(
  api: Api,
  record: FileRecord,
  { tags, metadata, focalPoint, transforms, info, signal }: UploadOptions,
): Promise<FileRecord> {
  const options: FileRecord['options'] = {}
  const signed = async (url: string) =>
    record.srcExpires === undefined
      ? url
      : createUrls(api).sign(url, { expiresIn: SRC_SECONDS, ...(signal ? { signal } : {}) })
  if (tags || metadata || focalPoint)
    await api.json<FileWithDerivatives>({
      method: 'PATCH',
      path: `/v1/files/${encodedPath(record.s3PathOriginal)}`,
      json: { tags, metadata, focalPoint },
      isIdempotent: true,
      signal,
    })
  if (info)
    options.info = await api.json<FileInformation>({
      path: await signed(withoutSignature(record.src).replace(/\/v1\/(\w+)\/upload\//, '/v1/$1/info/')),
      isAnonymous: true,
      signal,
    })
  if (transforms) {
    options.transforms = []
    for (const transform of transforms) {
      const src = await signed(buildUrl(record.src, queryOf(transform)))
      const state = await begun(api, src, signal)
      options.transforms.push({ key: `${record.s3PathOriginal}_${queryOf(transform)}`, src, state })
    }
  }
  return { ...record, options }
}

/** Requests a derivative without its bytes: an image is rendered, a video becomes a job. */
async function begun(
  api: Api,
  url: string,
  signal: AbortSignal | undefined,
): Promise<'done' | 'waiting' | 'failed'> {
  try {
    await api.send({ method: 'HEAD', path: url, kind: 'transfer', isAnonymous: true, signal })
    return 'done'
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    return error.status === 423 ? 'waiting' : 'failed'
  }
}
