import type { Client } from '../core/client.ts'
import type { OriginalName } from '../core/object-key.ts'
import type { OriginalRecord, Trash } from '../core/ports/file-index.ts'
import { deliveryUrl } from './urls.ts'

/** Where files are found by those who ask. */
export interface Place {
  client: Pick<Client, 'token'>
  /** Without a slash at its end. */
  baseUrl: string
}

/** What is told of a stored original. */
export interface ToldFile {
  name: OriginalName
  record: OriginalRecord
  /** Where it can be fetched from the bucket. */
  bucketUrl: string
}

/** The ten fields of an upload's record, as the README has them: these and no other. */
export function uploadToWire(
  { name, record, bucketUrl }: ToldFile,
  { client, baseUrl, options }: Place & { options: object },
) {
  const { key, sourceName, format } = name
  return {
    sourceName,
    src: deliveryUrl(name, { baseUrl, token: client.token }),
    originalSrc: bucketUrl,
    originalName: record.originalName,
    s3PathOriginal: key,
    s3Path: key,
    options,
    size: record.size,
    mimeType: format.group,
    format: format.name,
  }
}

/** Those and all else that is known of a file. */
export function fileToWire({ trash, ...file }: ToldFile & { trash?: Trash | undefined }, place: Place) {
  const { mediaType, sha256, storedAt, tags = [], metadata = {} } = file.record
  return {
    ...uploadToWire(file, { ...place, options: {} }),
    mediaType,
    sha256,
    uploadedAt: iso(storedAt),
    tags,
    metadata,
    ...(trash ? { deletedAt: iso(trash.at), deletedUntil: iso(trash.until) } : {}),
  }
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}
