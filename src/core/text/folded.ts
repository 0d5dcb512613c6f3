/** Folds a text for a search: texts that differ only in case or in the composition of their accents become equal. */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
