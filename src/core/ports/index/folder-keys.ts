import type { ObjectKey } from '../../files/object-key.ts'
import type { ListedState } from './listed-state.ts'

/** A part of the keys of a client's originals in a folder itself, without those in its subfolders. */
export interface FolderKeysRequest {
  state: ListedState
  /** Without slashes at its ends; empty for the originals in no folder. */
  folder: string
  direction?: 'up' | 'down'
  /** The key after which the part begins; no original needs to have it any more. */
  after?: string
  /** At least 1. */
  limit: number
}

/** Reads the keys of a folder. */
export interface FolderKeys {
  /**
   * The keys in a folder itself, sorted by their bytes. The cost depends on the number of these keys, and not on the number of
   * originals in subfolders.
   * @returns fewer keys than `limit` only at the end of the list
   */
  directKeys(clientId: string, request: FolderKeysRequest): Promise<readonly ObjectKey[]>
}
