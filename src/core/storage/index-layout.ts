/**
 * The number of the layout of the index in Redis that this version reads and writes. A version refuses the index of a later layout. A new
 * number needs an entry in {@link FORMER_LAYOUTS}, and a section in `docs/how-to/upgrade.md`.
 */
export const INDEX_LAYOUT = 2

/** The layouts of earlier versions, in their order, each with the last version that has it. */
export const FORMER_LAYOUTS: ReadonlyArray<{ layout: number; last: string }> = [
  // Version 1.0 stores no number.
  { layout: 1, last: '1.0.0' },
]
