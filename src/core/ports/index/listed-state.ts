/** The states of originals that are listed and counted. */
export type ListedState = 'stored' | 'trashed'

/** The number of originals, and their bytes without those of derivatives. */
export type Totals = Record<ListedState, { files: number; bytes: number }>
