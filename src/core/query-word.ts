/** Makes a browser save what is delivered; no parameter of a plugin. */
export const DOWNLOAD_WORD = 'download'

/** Names a set of parameters of `config/presets.json`; no parameter of a plugin. */
export const PRESET_WORD = 'preset'

// Marks that links collect on their way through mails, campaigns and caches.
const MARKS = /^(utm_.*|fbclid|gclid|v|_)$/

/** Whether a name in a query is passed over. `ignored`: the operator's own, of `config/chain.json`. */
export function isPassedOver(word: string, ignored: readonly string[]): boolean {
  return MARKS.test(word) || ignored.includes(word)
}
