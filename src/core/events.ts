import { newFileId, type ObjectKey } from './files/object-key.ts'
import type { Point } from './geometry/box.ts'
import type { EndedScan } from './storage/scan.ts'

/** An event of a file. It is emitted after the change is durable. */
interface FileEvent {
  clientId: string
  key: ObjectKey
}

/** Where an original is stored and delivered. */
export interface OriginalPlace extends FileEvent {
  /** Its delivery URL, without transformations. Signed for a file that is delivered only by signed URLs. */
  src: string
  /** When the signature of `src` expires, in ISO 8601. Absent without a signature. */
  srcExpires?: string
  /** The name of its format, as in the record of an upload. */
  format: string
  /** Empty for no folder. */
  folder: string
}

/** What the owner of an original has set. */
export interface KnownAnnotations {
  tags: readonly string[]
  /** `null` when its JSON has more than 20 KiB. */
  metadata: Readonly<Record<string, string>> | null
  /** Absent when the original has none. */
  focalPoint?: Point
}

/** Events of an original carry its record. */
interface OriginalEvent extends OriginalPlace, KnownAnnotations {
  originalName: string
  mediaType: string
  size: number
  sha256: string
}

/** The event that tests a receiver. It is not one of {@link EVENT_NAMES}, since nothing has happened. */
export const TEST_EVENT = 'webhook.test'

/** The source of a file that was not uploaded, if the process that emits the event knows it. */
export interface CopyOrigin {
  /** The key of the file of which this is a copy. */
  copiedFrom?: ObjectKey
  /** The former key of a moved file. `original.deleted` of that key follows. */
  movedFrom?: ObjectKey
}

/** A change of an alias. */
interface AliasEvent {
  clientId: string
  name: string
  /** Its delivery URL, for the type of its file, or of its former file when it was deleted. Never signed. */
  src: string
  /** The key of its file. Absent when the alias was deleted. */
  key?: ObjectKey
  /** The key of its previous file. Absent for a new alias. */
  formerKey?: ObjectKey
}

/** Every event and its data. */
export interface Events {
  'original.stored': OriginalEvent & CopyOrigin
  /** `derivatives`: the keys that were deleted with it. Without tags and metadata when its record was deleted before. */
  'original.deleted': OriginalPlace &
    Partial<KnownAnnotations> & {
      derivatives: readonly ObjectKey[]
      /** The key under which the file is stored now, if it was moved. */
      movedTo?: ObjectKey
    }
  /** It can be restored until `until`, in milliseconds since 1970; then `original.deleted` follows. */
  'original.trashed': OriginalPlace & KnownAnnotations & { derivatives: readonly ObjectKey[]; until: number }
  'original.restored': OriginalEvent
  /** The malware scan of a file has ended. Deliveries respond accordingly from now on. */
  'original.scanned': OriginalEvent & { scan: EndedScan }
  'derivative.stored': FileEvent & { original: ObjectKey; mediaType: string; size: number }
  'derivative.failed': FileEvent & { original: ObjectKey; code: string; detail: string }
  /** An alias was created, set to another file, or deleted. */
  'alias.changed': AliasEvent
  'archive.sent': { clientId: string; archiveName: string; entries: number; errors: number; bytes: number }
  /** `withdrawn`: folders whose files public URLs no longer deliver; an empty text means all files. Absent for other changes. */
  'client.changed': { clientId: string; withdrawn?: readonly string[] }
  /** Tests a receiver: it is never emitted. `clientId` is empty when the operator has requested the test. */
  'webhook.test': { clientId: string }
}

export type EventName = keyof Events

/** Identifies one event. It is created when the event is emitted, and is the same for all listeners. */
export interface EventStamp {
  /** `evt_` and 22 characters of base58. */
  id: string
  occurredAt: Date
}

/** Creates the stamp of an event that happens now. */
export function newEventStamp(): EventStamp {
  return { id: `evt_${newFileId()}`, occurredAt: new Date() }
}

const NAMES: Readonly<Record<Exclude<EventName, typeof TEST_EVENT>, true>> = {
  'original.stored': true,
  'original.deleted': true,
  'original.trashed': true,
  'original.restored': true,
  'original.scanned': true,
  'derivative.stored': true,
  'derivative.failed': true,
  'alias.changed': true,
  'archive.sent': true,
  'client.changed': true,
}

/** The names of all {@link Events} that are emitted, as plugins and `WEBHOOK_EVENTS` use them. */
export const EVENT_NAMES = Object.keys(NAMES) as readonly EventName[]
