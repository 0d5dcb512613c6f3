/** One run of the store behind the index, from its start to its end: the next run may have lost the last steps of this one. */
export interface IndexRun {
  /** Undefined where the store does not name its runs. */
  id: string | undefined
  /** Whether {@link IndexMaintenance.noteCompared} was called in this run: every derivative of the buckets is known. */
  isCompared: boolean
}
