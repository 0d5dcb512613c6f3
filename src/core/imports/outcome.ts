/** What an import did with one file of its source. */
export type ImportOutcome =
  | { status: 'imported' | 'skipped'; from: string; key: string; src: string }
  | { status: 'refused'; from: string; reason: string }
  /** A dry run has found no reason to refuse it. */
  | { status: 'accepted'; from: string }

/** The counts of an import, while it runs and at its end. */
export interface ImportCounts {
  imported: number
  /** Imported by an earlier run. */
  skipped: number
  refused: number
  /** Of a dry run only. */
  accepted: number
  /** The size of the imported files. */
  bytes: number
}

/** The progress of an import. */
export interface ImportProgress extends ImportCounts {
  /** The number of files of the source, as far as it is known. */
  total?: number
}

/** The result of an import. */
export interface ImportReport extends ImportCounts {
  seconds: number
  /** Number of refused files by reason, at most 20 reasons. */
  reasons: Readonly<Record<string, number>>
  /** True when the operator stopped it before its end. */
  isStopped?: true
}
