import { type Config, streamedMaxBytes } from '../../config/load.ts'
import type { Log } from '../core/log.ts'
import type { Bucket, Buckets } from '../core/ports/bucket.ts'
import type { ClientStore } from '../core/ports/client-store.ts'
import type { FileIndex } from '../core/ports/file-index.ts'
import type { AppKeys } from '../core/signing/derive-key.ts'
import { imageInspector } from '../engines/image/inspector.ts'
import type { Clients } from '../service/clients/clients.ts'
import { createRepeatedRequests } from '../service/clients/repeated-requests.ts'
import type { Removals } from '../service/originals/delete.ts'
import type { OriginalEvents } from '../service/originals/original-events.ts'
import type { Originals } from '../service/originals/originals.ts'
import type { ScanQueue } from '../service/scans/scan-queue.ts'
import { createDirectUploads } from '../service/upload/direct/direct-uploads.ts'
import { longestUploadMs } from '../service/upload/direct/times.ts'
import { createLinkUploads } from '../service/upload/links/link-uploads.ts'
import { createLinkUses } from '../service/upload/links/link-uses.ts'
import { createSignedLinks } from '../service/upload/links/upload-links.ts'
import { createResumables } from '../service/upload/resumable/create-resumables.ts'
import { createResumableOriginals } from '../service/upload/resumable/finish-resumable.ts'
import { createResumablePieces } from '../service/upload/resumable/pieces.ts'
import { createStoring } from '../service/upload/resumable/storing.ts'
import { createSweepResumables } from '../service/upload/resumable/sweep-resumables.ts'
import type { DecodableSlot } from '../service/upload/rules/decodable.ts'
import { createCheckPixels } from '../service/upload/rules/upload-rules.ts'
import { createUpload } from '../service/upload/upload.ts'
import type { Backends } from './storage/backends.ts'

export interface UploadsOptions {
  backends: Backends
  config: Config
  buckets: Buckets
  firstBucket: Bucket
  index: FileIndex
  keys: AppKeys
  clients: Clients
  store: ClientStore
  originalEvents: OriginalEvents
  originals: Originals
  removals: Removals
  scans: ScanQueue
  log: Log
}

/** Opens the services for every kind of upload: by secret, by signed link, and resumable. */
export function openUploads({
  backends,
  config,
  buckets,
  firstBucket,
  index,
  keys,
  clients,
  store,
  originalEvents,
  originals,
  removals,
  scans,
  log,
}: UploadsOptions) {
  const maxBytes = config.UPLOAD_MAX_BYTES
  const streamed = { streamedMaxBytes: streamedMaxBytes(config) }
  const { admits } = clients
  const checkPixels = createCheckPixels({ inspector: imageInspector })
  const decodable: DecodableSlot = {}
  const upload = createUpload({
    index,
    buckets,
    originalEvents,
    removals,
    scans,
    admits,
    checkPixels,
    decodable,
    maxBytes,
    ...streamed,
  })
  const expireMs = config.RESUMABLE_UPLOAD_TTL_SECONDS * 1000
  const directMaxBytes = firstBucket.permitPut ? maxBytes : 0
  const keptMs = longestUploadMs({ maxBytes, directMaxBytes, expireMs })
  const linkUses = createLinkUses({ ledger: backends.ledger, index, removals, keptMs })
  const signedLinks = createSignedLinks({
    keys,
    upload,
    originals,
    uses: linkUses,
    findClient: (id) => store.find(id),
  })
  const pieces = createResumablePieces(firstBucket)
  const linkUploads = createLinkUploads({ ledger: backends.ledger, uses: linkUses })
  const resumableOriginals = createResumableOriginals({
    bucket: firstBucket,
    pieces,
    index,
    buckets,
    originals,
    upload,
    removals,
    signedLinks,
  })
  const storing = createStoring({
    bucket: firstBucket,
    pieces,
    resumableOriginals,
    locks: backends.locks,
    signedLinks,
    linkUploads,
    expireMs,
  })
  const resumables = createResumables({
    bucket: firstBucket,
    pieces,
    storing,
    signedLinks,
    admits,
    linkUploads,
    maxBytes,
    ...streamed,
    expireMs,
  })
  const directUploads = createDirectUploads({
    bucket: firstBucket,
    resumables,
    storing,
    signedLinks,
    expireMs,
  })
  const sweepResumables = createSweepResumables({
    bucket: firstBucket,
    clients: store,
    storing,
    pieces,
    expireMs,
    log,
  })
  const repeatedRequests = createRepeatedRequests({ ledger: backends.ledger })
  // The process that transforms files fills `decodable`.
  return {
    ...streamed,
    decodable,
    upload,
    repeatedRequests,
    signedLinks,
    resumables,
    directUploads,
    storing,
    sweepResumables,
  }
}
