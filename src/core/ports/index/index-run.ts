import type { FileRef } from '../../files/file-ref.ts'

/** One run of the store behind the index, from its start to its end: the next run may have lost the last steps of this one. */
export interface IndexRun {
  /** Undefined where the store does not name its runs. */
  id: string | undefined
  /** Names the data, also where runs have no name: an index that was emptied or replaced has another name, and a restart keeps it. */
  data: string
  /** Whether {@link IndexRuns.noteCompared} was called in this run: every derivative is known. */
  isCompared: boolean
}

/** The comparison of the index with the buckets, which a new run of the store makes necessary. */
export interface IndexRuns {
  /**
   * Notes that the index has all files, in all lists, counters and the search. @param run a `data` or `id`: changes nothing when the
   * index has others in the meantime
   */
  markComplete(run?: string): Promise<void>
  /**
   * Whether lists, counters and search have all files: `markComplete` was called by a version that has them.
   * @param ref limits it to the partition of this file
   */
  isWhole(ref?: FileRef): Promise<boolean>
  /** The current run of the store behind the index. @param ref limits it to the partition of this file */
  run(ref?: FileRef): Promise<IndexRun>
  /** Notes that the index was compared with all files of the buckets, completely within the run of this name. */
  noteCompared(run: string): Promise<void>
}
