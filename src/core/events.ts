import type { ObjectKey } from './object-key.ts'

/** What happened to a file, told after it is durable. */
interface FileEvent {
  clientId: string
  key: ObjectKey
}

/** Every event and what it carries. */
export interface Events {
  'original.stored': FileEvent & { originalName: string; mediaType: string; size: number; sha256: string }
  /** `derivatives`: the keys that went with it. */
  'original.deleted': FileEvent & { derivatives: readonly ObjectKey[] }
  'derivative.stored': FileEvent & { original: ObjectKey; mediaType: string; size: number }
  'derivative.failed': FileEvent & { original: ObjectKey; code: string; detail: string }
  'archive.sent': { clientId: string; archiveName: string; entries: number; errors: number; bytes: number }
  'client.changed': { clientId: string }
}

export type EventName = keyof Events

export const EVENT_NAMES: readonly EventName[] = [
  'original.stored',
  'original.deleted',
  'derivative.stored',
  'derivative.failed',
  'archive.sent',
  'client.changed',
]
