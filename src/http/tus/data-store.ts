import { DataStore, Upload } from '@tus/server'
import type { ExpectedDigest } from '../../core/bytes/expected-digests.ts'
import type { Checksum, UploadPart } from '../../service/upload/resumable/pieces.ts'
import type { Bearer, Resumables, ResumableUpload } from '../../service/upload/resumable/resumables.ts'
import { checkSameFolder } from '../upload/folder-fields.ts'
import { refuseInLink } from '../upload/link-fields.ts'
import { PACKAGE_EXTENSIONS } from './request.ts'

/** What a request states of an upload, besides the headers of tus. */
export interface StatedUpload {
  /** The path and query of the signed link that creates the upload. Undefined for all other requests. */
  link: string | undefined
  /** Called when the upload is created, before its bytes are read. */
  created: ((id: string) => void) | undefined
  /** Of the body. */
  checksum: Checksum | undefined
  /** Of the whole file, when the request creates the upload. */
  digests: ExpectedDigest[]
}

/** The storage adapter for `@tus/server`. */
export function tusStore(
  grant: Bearer,
  {
    resumables,
    expireMs,
    checksum,
    digests,
    link,
    created,
    isPartial,
    parts,
    found,
  }: StatedUpload & {
    resumables: Resumables
    expireMs: number
    isPartial: boolean
    parts: readonly UploadPart[] | undefined
    /** Called with each upload that is read. It may throw a Problem. */
    found: (upload: ResumableUpload) => void
  },
): DataStore {
  const toTus = (id: string, { size, offset, metadata, expiresAt }: ResumableUpload) =>
    new Upload({
      id,
      offset,
      ...(size === undefined ? {} : { size }),
      ...(metadata ? { metadata } : {}),
      creation_date: new Date(expiresAt - expireMs).toISOString(),
    })
  return Object.assign(new DataStore(), {
    extensions: PACKAGE_EXTENSIONS,
    getExpiration: () => expireMs,
    async create(upload: Upload) {
      const { id, size, metadata } = upload
      if (link !== undefined)
        for (const [name, value] of Object.entries(metadata ?? {})) refuseInLink(name, value)
      const options = {
        ...{ id, size, link, parts, digests },
        ...nameAndFolder(metadata ?? {}),
        ...(metadata ? { metadata } : {}),
        ...(isPartial ? { isPartial } : {}),
      }
      const { creation_date: createdAt } = toTus(id, await resumables.create(grant, options))
      if (createdAt) upload.creation_date = createdAt
      created?.(id)
      return upload
    },
    async getUpload(id: string) {
      const upload = await resumables.find(grant, id)
      found(upload)
      return toTus(id, upload)
    },
    declareUploadLength: (id: string, size: number) => resumables.declareSize(grant, id, size),
    write: (bytes: AppendedStream, id: string, offset: number) =>
      resumables.append(grant, id, { offset, bytes, checksum }),
    remove: (id: string) => resumables.remove(grant, id),
  })
}

type AppendedStream = Parameters<Resumables['append']>[2]['bytes']

/** Name and folder of the file from the metadata. Uppy sends the name as `name`. @throws Problem 400 */
function nameAndFolder(metadata: Readonly<Record<string, string | null>>) {
  const [first, other] = ['folder', 'path'].flatMap((param) => {
    const value = metadata[param]
    return value ? [{ param, value }] : []
  })
  if (first && other) checkSameFolder(other, first)
  return { originalName: metadata.filename ?? metadata.name ?? '', folder: first?.value }
}
