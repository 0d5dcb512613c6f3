import type { ObjectKey } from './object-key.ts'

/** Identifies an original of a client. */
export interface FileRef {
  clientId: string
  key: ObjectKey
}
