import { queryOf } from '../delivery/query.ts'
import type { FileRecord } from '../generated/api.ts'
import type { Api } from '../http/request.ts'
import { completeAfterTus } from './complete.ts'
import { CHUNK_BYTES, RESUMABLE_FROM_BYTES, type UploadOptions } from './options.ts'
import { browserStore } from './resume-store.ts'
import { uploadForm, uploadRaw } from './small.ts'
import { type FileIdentity, fingerprintOf, openSource, type RemoteFile, type UploadSource } from './source.ts'
import { discardUnfinished, type ResumeEntry, uploadByTus } from './tus.ts'

/** Which unfinished upload of a file is deleted. */
export type DiscardOptions = Pick<UploadOptions, 'folder' | 'resume'>

/**
 * Uploads a file with a secret: as the body of one request, as a form when it has other options, or as a resumable
 * upload when it is large.
 */
export async function uploadFile(
  api: Api,
  file: UploadSource | RemoteFile | URL,
  options: UploadOptions,
): Promise<FileRecord> {
  const remote = remoteUrl(file)
  if (remote !== undefined) return uploadRemote(api, remote, options)
  const { folder, signal, onProgress, resumableFromBytes = RESUMABLE_FROM_BYTES, retries = true } = options
  const source = await openSource(file as UploadSource, options.name)
  try {
    const isLarge = (source.size ?? -1) >= resumableFromBytes
    const resume = entryOf(api, options, source.fingerprint)
    const transfer = { api, source, resume, onProgress, signal, retries }
    if (isLarge) {
      // Loaded on first use: most pages never need it. A deployment may have removed it since the page was opened.
      const loaded = await import('./direct/direct.ts').catch(() => {})
      const stored = await loaded?.uploadDirectly({ ...transfer, options, direct: options.direct })
      const { tags: _t, metadata: _m, focalPoint: _f, ...later } = options
      if (stored) return await completeAfterTus(api, stored.record, stored.isResumed ? options : later)
    }
    const first = isLarge ? undefined : await source.chunk(0, resumableFromBytes)
    if (!first?.isLast) {
      const record = await uploadByTus({
        ...transfer,
        folder,
        chunkBytes: options.chunkBytes ?? CHUNK_BYTES,
        endpoint: async () => ({ url: api.urlOf('/v1/tus'), isLink: false }),
      })
      return await completeAfterTus(api, record, options)
    }
    const common = { api, bytes: first.bytes, onProgress }
    const fields = fieldsOf(options)
    const request = {
      query: { path: folder },
      once: true,
      waits: retries,
      signal,
    }
    if (Object.keys(fields).length > 0)
      return await uploadForm({
        ...common,
        name: source.name || 'file',
        fields,
        request: { ...request, method: 'POST', path: '/v1/upload' },
      })
    const path = `/v1/upload/${encodeURIComponent(source.name || 'file')}`
    return await uploadRaw({ ...common, request: { ...request, method: 'PUT', path } })
  } finally {
    await source.close()
  }
}

/** Deletes the bytes of an unfinished upload, as {@link Files.discardUpload} describes. */
export async function discardUpload(api: Api, file: FileIdentity, options: DiscardOptions): Promise<void> {
  const entry = entryOf(api, options, fingerprintOf(file))
  if (entry) await discardUnfinished(api, entry)
}

function entryOf(api: Api, options: DiscardOptions, fingerprint: string | undefined) {
  return resumeOf(options, fingerprint, `${api.scope} ${options.folder ?? ''}`)
}

/** Where an upload is stored to be resumed. Undefined when it cannot be recognised again. */
export function resumeOf(
  { resume = browserStore() ?? false }: Pick<UploadOptions, 'resume'>,
  fingerprint: string | undefined,
  destination: string,
): ResumeEntry | undefined {
  if (resume === false || fingerprint === undefined) return undefined
  return { store: resume, key: `${destination} ${fingerprint}` }
}

function remoteUrl(file: UploadSource | RemoteFile | URL): string | undefined {
  if (file instanceof URL) return file.href
  if (typeof file !== 'object' || file === null || !('url' in file)) return undefined
  // A Response has a URL too, but its body is the stream to upload.
  return typeof file.url === 'string' || file.url instanceof URL ? String(file.url) : undefined
}

async function uploadRemote(api: Api, url: string, options: UploadOptions): Promise<FileRecord> {
  const { name, folder: path, info, tags, metadata, focalPoint, transforms, signal, retries = true } = options
  const [record] = await api.json<[FileRecord]>({
    method: 'POST',
    path: '/v1/upload/url',
    kind: 'transfer',
    once: true,
    waits: retries,
    json: { url, name, path, info, tags, metadata, focalPoint, transforms: transforms?.map(queryOf) },
    signal,
  })
  return record
}

function fieldsOf({ info, tags, metadata, focalPoint, transforms }: UploadOptions): Record<string, string> {
  return {
    ...(info ? { info: '1' } : {}),
    ...(tags ? { tags: JSON.stringify(tags) } : {}),
    ...(metadata ? { metadata: JSON.stringify(metadata) } : {}),
    ...(focalPoint ? { focalPoint: JSON.stringify(focalPoint) } : {}),
    ...(transforms ? { transforms: JSON.stringify(transforms.map(queryOf)) } : {}),
  }
}
