import type { Client } from '../../core/clients/client.ts'
import { deliveryUrl } from '../../core/files/delivery-url.ts'
import type { SignSrc } from '../../service/clients/signed-src.ts'
import type { EagerTransform } from '../../service/delivery/eager-transforms.ts'
import type { Information } from '../../service/delivery/file-info.ts'
import type { UploadedFile } from '../../service/upload/upload-request.ts'
import { informationToWire } from './information.ts'
import type { FileRecord } from './record.ts'

/** The parts of a file's URL that depend on the client and the installation. */
export interface Place {
  client: Client
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** Signs delivery URLs, for files that need it. */
  sign: SignSrc
}

/** The ten fields of an upload's record, as documented in docs/reference/http-api.md, `srcExpires` when `src` is signed, and `scan` with a scanner. */
export function uploadToWire(
  { name, record, bucketUrl }: UploadedFile,
  { client, baseUrl, sign, options }: Place & { options: FileRecord['options'] },
): FileRecord {
  const { key, sourceName, format } = name
  return {
    sourceName,
    ...sign(deliveryUrl(name, { baseUrl, token: client.token }), key),
    originalSrc: bucketUrl,
    originalName: record.originalName,
    s3PathOriginal: key,
    s3Path: key,
    options,
    size: record.size,
    mimeType: format.group,
    format: format.name,
    ...(record.scan ? { scan: record.scan } : {}),
  }
}

/** The `options` of a record: results that the form has requested. Empty when it has requested none. */
export function optionsToWire(
  { name }: UploadedFile,
  {
    client,
    baseUrl,
    sign,
    info,
    transforms,
  }: Place & {
    info: Information | undefined
    transforms: readonly EagerTransform[] | undefined
  },
): FileRecord['options'] {
  const src = deliveryUrl(name, { baseUrl, token: client.token })
  const list = transforms?.map(({ query, key, state }) => ({
    key,
    src: sign(`${src}?${inUrl(query)}`, key).src,
    state,
  }))
  return {
    ...(info ? { info: informationToWire(info, { withLocation: false }) } : {}),
    ...(list ? { transforms: list } : {}),
  }
}

/** A query as part of a URL. Commas and colons, as in ratios and boxes, stay readable. */
function inUrl(query: string): string {
  return String(new URLSearchParams(query)).replaceAll('%2C', ',').replaceAll('%3A', ':')
}
