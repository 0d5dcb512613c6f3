import type { FileRef } from '../../files/file-ref.ts'
import type { ObjectKey } from '../../files/object-key.ts'

/** An entry whose lease or deadline has passed: its process has died. */
export type Overdue =
  | { kind: 'original'; ref: FileRef }
  | { kind: 'derivative'; ref: FileRef; derivative: ObjectKey; deadline: number }

/** `full`: the original has too many derivatives; `refused`: it is not `stored`. Both change nothing. */
export type DerivativeStart = 'begun' | 'full' | 'refused'

export type RemovalCause = 'delete' | 'purge' | 'abandon' | 'sweep'

/** Tags of record objects by the keys of their originals. */
export type RecordTags = ReadonlyMap<ObjectKey, string>

/** `after` is exclusive; empty for the beginning. `upTo` is inclusive; absent for the end. No original needs to have these keys. */
export interface KeyRange {
  after: string
  upTo?: string | undefined
}
