import type { AppKeys } from '../signing/derive-key.ts'
import { seal, unseal } from '../signing/seal.ts'

/** Stores the first client's secret token in the bucket, so that a backup of the bucket and `APP_SECRET` restore it. */
export interface Recovery {
  /** @returns the secret token, encrypted with a key of `APP_SECRET` */
  seal(secretClientToken: string): string
  /** @returns the secret token; undefined when it was sealed with another `APP_SECRET`, or is damaged */
  unseal(sealed: string): string | undefined
}

const PLACE = 'first client'

export function createRecovery(keys: AppKeys): Recovery {
  const key = keys('first client')
  return {
    seal: (secretClientToken) => seal(secretClientToken, { key, place: PLACE }),
    unseal(sealed) {
      try {
        return unseal(sealed, { key, place: PLACE })
      } catch {
        return undefined
      }
    },
  }
}
