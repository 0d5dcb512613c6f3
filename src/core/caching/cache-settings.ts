/** The names of the cache settings of clients and presets. */
const CACHE_FIELDS = [
  'browserCacheSeconds',
  'cdnCacheSeconds',
  'staleWhileRevalidateSeconds',
  'staleIfErrorSeconds',
] as const

export type CacheField = (typeof CACHE_FIELDS)[number]

/** How long caches may store public files of a client, or of a preset, in seconds. Settings that are absent are those of the level above. */
export type CacheSettings = { readonly [F in CacheField]?: number }

/** A year: the longest lifetime that caches heed. */
export const CACHE_MAX_SECONDS = 31_536_000

export function isCacheField(word: string): word is CacheField {
  return (CACHE_FIELDS as readonly string[]).includes(word)
}

/** The cache settings among other settings; undefined if there are none. */
export function cacheSettingsIn(settings: Iterable<readonly [string, unknown]>): CacheSettings | undefined {
  const found = [...settings].filter(([name, value]) => isCacheField(name) && typeof value === 'number')
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

/** The settings of several levels as one. Each setting is that of the first level that has it. */
export function mergedCacheSettings(...levels: ReadonlyArray<CacheSettings | undefined>): CacheSettings {
  const settings = CACHE_FIELDS.map((name) => [
    name,
    levels.find((level) => level?.[name] !== undefined)?.[name],
  ])
  return Object.fromEntries(settings.filter(([, value]) => value !== undefined))
}
