/** Makes a browser save the file. Not a parameter of a plugin. */
export const DOWNLOAD_WORD = 'download'

/** Names a preset of `config/presets.json`. Not a parameter of a plugin. */
export const PRESET_WORD = 'preset'

/** Makes a request wait for a media job, in seconds. Not a parameter of a plugin. */
export const WAIT_WORD = 'wait'

/** Words in a query that are not parameters of a plugin. */
export const RESERVED_WORDS: readonly string[] = [DOWNLOAD_WORD, PRESET_WORD, WAIT_WORD]

// Parameters that mail programs, campaigns and caches add to links.
const MARKS = /^(utm_.*|fbclid|gclid|v|_)$/

/** Whether a name in a query is ignored. @param ignored names that the operator ignores, from `config/chain.json` */
export function isIgnoredParam(word: string, ignored: readonly string[]): boolean {
  return MARKS.test(word) || ignored.includes(word)
}
