import type { Client } from '../../core/clients/client.ts'
import type { CopyOrigin, KnownAnnotations, OriginalPlace } from '../../core/events.ts'
import { deliveryUrl } from '../../core/files/delivery-url.ts'
import { type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import type { EndedScan } from '../../core/storage/scan.ts'
import { createSignSrc } from '../clients/signed-src.ts'
import type { UrlKeys } from '../clients/url-keys.ts'

/** Emits the events of originals. */
export interface OriginalEvents {
  /** Some originals emit this twice. @param origin of a copy or a moved file */
  stored(client: Client, record: OriginalRecord, origin?: CopyOrigin): void
  restored(client: Client, record: OriginalRecord): void
  scanned(client: Client, record: OriginalRecord, scan: EndedScan): void
  trashed(
    client: Client,
    record: OriginalRecord,
    details: { derivatives: readonly ObjectKey[]; until: number },
  ): void
  /** @param details.record undefined when the record was deleted before */
  deleted(
    client: Client,
    key: ObjectKey,
    details: {
      derivatives: readonly ObjectKey[]
      record: OriginalRecord | undefined
      movedTo?: ObjectKey
    },
  ): void
}

// Metadata has at most 16 KiB, but JSON escapes some characters with six, and an event in the queue must be small.
const METADATA_MAX_BYTES = 20 * 1024

/** @param baseUrl the public URL of the service, without a trailing slash */
export function createOriginalEvents({
  events,
  baseUrl,
  urlKeys,
}: {
  events: EventBus
  baseUrl: string
  urlKeys: Pick<UrlKeys, 'newest'>
}): OriginalEvents {
  function placeOf(client: Client, key: ObjectKey): OriginalPlace {
    const { id, token } = client
    const name = parseKey(key)
    if (!name) throw new Error(`not the key of an original: ${key}`)
    return {
      clientId: id,
      key,
      ...createSignSrc(urlKeys, { client })(deliveryUrl(name, { baseUrl, token }), key),
      format: name.format.name,
      folder: name.folder,
    }
  }
  function eventOf(client: Client, record: OriginalRecord) {
    const { key, originalName, mediaType, size, sha256 } = record
    return { ...placeOf(client, key), originalName, mediaType, size, sha256, ...annotationsOf(record) }
  }
  return {
    stored: (client, record, origin = {}) =>
      events.emit('original.stored', { ...eventOf(client, record), ...origin }),
    restored: (client, record) => events.emit('original.restored', eventOf(client, record)),
    scanned: (client, record, scan) => events.emit('original.scanned', { ...eventOf(client, record), scan }),
    trashed: (client, record, details) =>
      events.emit('original.trashed', {
        ...placeOf(client, record.key),
        ...annotationsOf(record),
        ...details,
      }),
    deleted: (client, key, { record, ...details }) =>
      events.emit('original.deleted', {
        ...placeOf(client, key),
        ...(record ? annotationsOf(record) : {}),
        ...details,
      }),
  }
}

function annotationsOf({ tags = [], metadata = {}, focalPoint }: OriginalRecord): KnownAnnotations {
  const isSmall = Buffer.byteLength(JSON.stringify(metadata)) <= METADATA_MAX_BYTES
  return { tags, metadata: isSmall ? metadata : null, ...(focalPoint ? { focalPoint } : {}) }
}
