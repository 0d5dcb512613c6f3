import leven from 'leven'

/**
 * The known word that was probably meant: at most two edits away, and alike in half of its letters or more, so that
 * `dpi` means `dpr`; of one or two letters only the case may differ: `x` does not mean `w`.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const lower = word.toLowerCase().slice(0, 40)
  return [...known]
    .map((name) => ({ name, edits: leven(lower, name), length: Math.max(lower.length, name.length) }))
    .filter(({ edits, length }) => edits === 0 || (length > 2 && edits <= 2 && edits * 2 <= length))
    .sort((a, b) => a.edits - b.edits)[0]?.name
}

/** `; did you mean "width"?`, or nothing. For the end of a message. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = nearest(word, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}
