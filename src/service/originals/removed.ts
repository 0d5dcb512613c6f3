import type { ObjectKey } from '../../core/files/object-key.ts'

export interface Removed {
  key: ObjectKey
  /** How many went with it. */
  derivatives: number
  /** Until when it can be had back, in milliseconds since 1970; absent when it is gone for good. */
  until?: number
}
