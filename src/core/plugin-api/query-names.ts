/** Makes a browser save what is delivered; no parameter of a plugin. */
export const DOWNLOAD_WORD = 'download'

/** Names a set of parameters of `config/presets.json`; no parameter of a plugin. */
export const PRESET_WORD = 'preset'

/** Has a request wait for what takes minutes, so many seconds; no parameter of a plugin. */
export const WAIT_WORD = 'wait'

/** Words in a query that are no parameter of a plugin. */
export const RESERVED_WORDS: readonly string[] = [DOWNLOAD_WORD, PRESET_WORD, WAIT_WORD]

// Marks that links collect on their way through mails, campaigns and caches.
const MARKS = /^(utm_.*|fbclid|gclid|v|_)$/

/** Whether a name in a query is passed over. `ignored`: the operator's own, of `config/chain.json`. */
export function isIgnoredParam(word: string, ignored: readonly string[]): boolean {
  return MARKS.test(word) || ignored.includes(word)
}
