import type { ObjectKey } from '../files/object-key.ts'

/** Names an original of a client. */
export interface FileRef {
  clientId: string
  key: ObjectKey
}
