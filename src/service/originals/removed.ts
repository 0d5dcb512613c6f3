import type { ObjectKey } from '../../core/files/object-key.ts'

export interface Removed {
  key: ObjectKey
  /** Number of derivatives deleted with the original. */
  derivatives: number
  /** Until when it can be restored, in milliseconds since 1970; absent for a permanent delete. */
  until?: number
}
