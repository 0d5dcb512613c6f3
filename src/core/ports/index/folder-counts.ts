import type { ListedState } from './listed-state.ts'

/** Numbers of the originals in a folder that have the same {@link ListedState}. */
export interface FolderCount {
  /** In the folder and all its subfolders. */
  files: number
  /** Bytes of these files, without those of derivatives. */
  bytes: number
  /** In the folder itself. */
  directFiles: number
}

/** The count of one folder. `folder` is without slashes at its ends. */
export interface CountedFolder extends FolderCount {
  folder: string
}

/** A part of the list of subfolders. */
export interface FolderPage {
  folders: readonly CountedFolder[]
  /** The name after which the next part begins; undefined when this is the last part. */
  next: string | undefined
}

/** The counters that a recount has found to be wrong. `folder` is empty for the top. */
export interface WrongCount {
  folder: string
  state: ListedState
}

/**
 * Counters of folders. They change in the same atomic step as the state of an original, so that no request has to read
 * all originals. A folder without originals in a state has no counters of that state.
 */
export interface FolderCounts {
  /** The count of a folder and its subfolders; all are 0 when it has no originals. @param folder empty for the top */
  folderCount(clientId: string, state: ListedState, folder: string): Promise<FolderCount>
  /**
   * The folders directly below `parent` that have `stored` originals, sorted by the bytes of their names.
   * @param options.after the name after which the part begins; no folder needs to have it
   */
  subfolders(
    clientId: string,
    options: { parent: string; after?: string; limit: number },
  ): Promise<FolderPage>
  /**
   * Counts a client's originals again, in short steps next to concurrent changes. Waits for another recount of the client.
   * @param options.repair whether wrong counters are replaced, or only returned
   */
  recount(clientId: string, options: { repair: boolean; signal?: AbortSignal }): Promise<WrongCount[]>
  /** Whether the counters are complete, of all clients or of one: `markComplete` was called by a version that has counters. */
  isCounted(clientId?: string): Promise<boolean>
}

export const NOTHING_COUNTED: FolderCount = { files: 0, bytes: 0, directFiles: 0 }
