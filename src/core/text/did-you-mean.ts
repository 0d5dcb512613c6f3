import leven from 'leven'

/**
 * Finds the known word that was probably meant. It is at most two edits away, and half of its letters or more are
 * equal: `dpr` for `dpi`. Words of one or two letters may differ in case only: `w` is not a suggestion for `x`.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const lower = word.toLowerCase().slice(0, 40)
  return [...known]
    .map((name) => ({ name, edits: leven(lower, name), length: Math.max(lower.length, name.length) }))
    .filter(({ edits, length }) => edits === 0 || (length > 2 && edits <= 2 && edits * 2 <= length))
    .sort((a, b) => a.edits - b.edits)[0]?.name
}

/** Returns `; did you mean "width"?`, or an empty text. For the end of a message. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = nearest(word, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}
