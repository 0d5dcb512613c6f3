import type { FileRecord } from '../generated/api.ts'
import { createApi } from '../http/request.ts'
import { CHUNK_BYTES, RESUMABLE_FROM_BYTES, type TransferOptions } from './options.ts'
import { uploadRaw } from './small.ts'
import { type FileIdentity, fingerprintOf, openSource, type UploadSource } from './source.ts'
import { discardUnfinished, uploadByTus } from './tus.ts'
import { resumeOf } from './upload.ts'

/** A signed upload link: its URL, or the response of {@link Links.create}. */
export type UploadLink = string | { url: string }

/** The file for which a link is requested. */
export interface LinkFile {
  /** Empty for bytes without a name. */
  name: string
  /** In bytes. Undefined for a stream. */
  size: number | undefined
  /** The media type that the browser has guessed from the name. Can be empty. */
  type: string
}

/** What {@link createUploader} needs. */
export interface UploaderOptions {
  /**
   * A link, or a function that requests one from your server. The function is called for each new upload, but not for an upload that
   * resumes.
   */
  link: UploadLink | ((file: LinkFile) => UploadLink | Promise<UploadLink>)
  /** Names unfinished uploads, for example with the id of a user. Default: one name for all links. */
  resumeScope?: string
  fetch?: typeof globalThis.fetch
}

/** Uploads by signed links, without a secret. */
export interface Uploader {
  /** Uploads one file. @throws SluiceError */
  upload(file: UploadSource, options?: TransferOptions): Promise<FileRecord>
  /**
   * Deletes the bytes of an unfinished upload in the service or the bucket, which a link can then replace at once. Abort the upload
   * first. Does nothing without such an upload, and never throws for a failed request: the upload expires by itself.
   */
  discard(file: FileIdentity, options?: Pick<TransferOptions, 'resume'>): Promise<void>
}

/** Creates an uploader for pages and apps: they need no secret, only a link that a server has created. */
export function createUploader({ link, resumeScope = '', fetch }: UploaderOptions): Uploader {
  // Links are whole URLs, so requests need no address of the service.
  const api = createApi({ baseUrl: 'https://sluice.invalid', fetch })
  // Without the link: after a reload of the page the server creates another one.
  const entryOf = (options: TransferOptions, fingerprint: string | undefined) =>
    resumeOf(options, fingerprint, `link ${resumeScope}`)
  return {
    async discard(file, options = {}) {
      const entry = entryOf(options, fingerprintOf(file))
      if (entry) await discardUnfinished(api, entry)
    },
    async upload(file, options = {}) {
      const { signal, onProgress, resumableFromBytes = RESUMABLE_FROM_BYTES, retries = true } = options
      const source = await openSource(file, options.name)
      let given: UploadLink | undefined
      // One link for all ways: a link for one file is free again when the direct upload is deleted.
      const getLink = async () => {
        signal?.throwIfAborted()
        const { name, size } = source
        const type = file instanceof Blob ? file.type : ''
        given ??= await (typeof link === 'function' ? link({ name, size, type }) : link)
        return typeof given === 'string' ? given : given.url
      }
      try {
        const isLarge = (source.size ?? -1) >= resumableFromBytes
        const resume = entryOf(options, source.fingerprint)
        const transfer = { api, source, resume, onProgress, signal, retries }
        if (isLarge) {
          // Loaded on first use: most pages never need it. A deployment may have removed it since the page was opened.
          const loaded = await import('./direct/direct.ts').catch(() => {})
          const stored = await loaded?.uploadDirectly({ ...transfer, link: getLink, direct: options.direct })
          if (stored) return stored.record
        }
        const first = isLarge ? undefined : await source.chunk(0, resumableFromBytes)
        if (!first?.isLast)
          return await uploadByTus({
            ...transfer,
            chunkBytes: options.chunkBytes ?? CHUNK_BYTES,
            endpoint: async () => ({ url: await getLink(), isLink: true }),
          })
        const name = source.name === '' ? '' : `&name=${encodeURIComponent(source.name)}`
        const request = {
          method: 'PUT' as const,
          path: `${await getLink()}${name}`,
          isAnonymous: true,
          retries,
          signal,
        }
        return await uploadRaw({ api, request, bytes: first.bytes, onProgress })
      } finally {
        await source.close()
      }
    },
  }
}

/** Uploads one file by a signed link. @throws SluiceError */
export function uploadToLink(
  link: UploadLink,
  file: UploadSource,
  options: TransferOptions = {},
): Promise<FileRecord> {
  return createUploader({ link }).upload(file, options)
}
