import { newFileId, type ObjectKey } from './files/object-key.ts'

/** What happened to a file, told after it is durable. */
interface FileEvent {
  clientId: string
  key: ObjectKey
}

/** What is told of an original with its record. */
interface OriginalEvent extends FileEvent {
  originalName: string
  mediaType: string
  size: number
  sha256: string
}

/** Every event and what it carries. */
export interface Events {
  'original.stored': OriginalEvent
  /** `derivatives`: the keys that went with it. */
  'original.deleted': FileEvent & { derivatives: readonly ObjectKey[] }
  /** It can be had back until `until`, in milliseconds since 1970; then `original.deleted` follows. */
  'original.trashed': FileEvent & { derivatives: readonly ObjectKey[]; until: number }
  'original.restored': OriginalEvent
  'derivative.stored': FileEvent & { original: ObjectKey; mediaType: string; size: number }
  'derivative.failed': FileEvent & { original: ObjectKey; code: string; detail: string }
  'archive.sent': { clientId: string; archiveName: string; entries: number; errors: number; bytes: number }
  'client.changed': { clientId: string }
}

export type EventName = keyof Events

/** What tells one event from all others; made when it is emitted, the same for all who are told. */
export interface EventStamp {
  /** `evt_` and 22 characters of base58. */
  id: string
  occurredAt: Date
}

/** The stamp of an event that happens now. */
export function newEventStamp(): EventStamp {
  return { id: `evt_${newFileId()}`, occurredAt: new Date() }
}

/** All of {@link Events}, as plugins and `WEBHOOK_EVENTS` may name them. */
export const EVENT_NAMES: readonly EventName[] = [
  'original.stored',
  'original.deleted',
  'original.trashed',
  'original.restored',
  'derivative.stored',
  'derivative.failed',
  'archive.sent',
  'client.changed',
]
