import type { Response } from 'express'
import { type CacheSettings, mergedCacheSettings } from '../../core/caching/cache-settings.ts'
import { clientTag, tagsOf, tagsOfAlias } from '../../core/caching/cache-tags.ts'
import type { Client } from '../../core/clients/client.ts'
import { type CdnHeader, type Lifetime, MAX_AGE_SECONDS } from './lifetime.ts'

/** The headers with tags, by their names in the configuration, and the separator of their tags. */
export const TAG_HEADERS = {
  'cache-tag': { header: 'Cache-Tag', separator: ',' },
  'cdn-tag': { header: 'CDN-Tag', separator: ',' },
  'edge-cache-tag': { header: 'Edge-Cache-Tag', separator: ',' },
  'surrogate-key': { header: 'Surrogate-Key', separator: ' ' },
  xkey: { header: 'xkey', separator: ' ' },
} as const

export type TagKind = keyof typeof TAG_HEADERS

export function isTagKind(word: string): word is TagKind {
  return Object.hasOwn(TAG_HEADERS, word)
}

/** The cache settings of the installation. */
export interface CachingOptions {
  /** Those that clients and presets may replace. */
  settings: CacheSettings
  cdnHeader: CdnHeader
  /** The headers with tags; empty: no tags. */
  tags: readonly TagKind[]
}

/** How long caches may store the files of clients, and by which tags CDNs purge them. */
export interface Caching {
  /** The lifetime of a file that does not change. @param preset the settings of the preset in the URL */
  lifetimeOf(client: Pick<Client, 'rules'>, preset?: CacheSettings): Lifetime
  /**
   * Sets the headers with tags, if the installation has any.
   *
   * @param key of the original, or of a file that is derived from it; undefined for a file that the service has not stored
   * @param alias the name in the URL, if it is that of an alias
   */
  setTags(res: Response, client: Pick<Client, 'id'>, key?: string, alias?: string): void
}

export function createCaching({ settings, cdnHeader, tags: kinds }: CachingOptions): Caching {
  return {
    lifetimeOf({ rules }, preset) {
      const merged = mergedCacheSettings(preset, rules, settings)
      const {
        browserCacheSeconds: maxAgeSeconds = MAX_AGE_SECONDS,
        cdnCacheSeconds: cdnSeconds,
        staleWhileRevalidateSeconds: staleSeconds,
        staleIfErrorSeconds,
      } = merged
      return { maxAgeSeconds, cdnSeconds, cdnHeader, staleSeconds, staleIfErrorSeconds }
    },

    setTags(res, { id }, key, alias) {
      if (kinds.length === 0) return
      const ofFile = key === undefined ? [clientTag(id)] : tagsOf(id, key)
      const tags = alias === undefined ? ofFile : [...new Set([...tagsOfAlias(id, alias), ...ofFile])]
      for (const kind of kinds) {
        const { header, separator } = TAG_HEADERS[kind]
        res.setHeader(header, tags.join(separator))
      }
    },
  }
}
