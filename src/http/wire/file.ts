import type { Client } from '../../core/clients/client.ts'
import type { EagerTransform } from '../../service/delivery/eager-transforms.ts'
import type { Information } from '../../service/delivery/file-info.ts'
import type { UploadedFile } from '../../service/upload/upload-request.ts'
import { informationToWire } from '../delivery/info-routes.ts'
import type { FileRecord } from './record.ts'
import { deliveryUrl } from './urls.ts'

/** The ten fields of an upload's record, as documented in docs/reference/http-api.md, and no others. */
export function uploadToWire(
  { name, record, bucketUrl }: UploadedFile,
  { client, baseUrl, options }: { client: Client; baseUrl: string; options: FileRecord['options'] },
): FileRecord {
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

/** The `options` of a record: results that the form has requested. Empty when it has requested none. */
export function optionsToWire(
  { name }: UploadedFile,
  {
    client,
    baseUrl,
    info,
    transforms,
  }: {
    client: Client
    baseUrl: string
    info: Information | undefined
    transforms: readonly EagerTransform[] | undefined
  },
): FileRecord['options'] {
  const src = deliveryUrl(name, { baseUrl, token: client.token })
  const list = transforms?.map(({ query, key, state }) => ({ key, src: `${src}?${inUrl(query)}`, state }))
  return {
    ...(info ? { info: informationToWire(info, { withLocation: false }) } : {}),
    ...(list ? { transforms: list } : {}),
  }
}

/** A query as part of a URL. Commas and colons, as in ratios and boxes, stay readable. */
function inUrl(query: string): string {
  return String(new URLSearchParams(query)).replaceAll('%2C', ',').replaceAll('%3A', ':')
}
