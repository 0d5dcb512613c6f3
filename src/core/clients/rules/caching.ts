import { CACHE_MAX_SECONDS, type CacheField } from '../../caching/cache-settings.ts'
import { parseDuration, shownDuration } from '../../text/duration.ts'
import { integerRule, type Rule } from './rule.ts'

/** How long browsers and CDNs may store public files of the client. */
export const CACHING_RULES = {
  browserCacheSeconds: cacheRule('--browser-cache', {
    help: 'how long browsers may store its public files, and CDNs without a lifetime of their own; default: BROWSER_CACHE_SECONDS',
    example: '1d',
    effect:
      'Replaces `BROWSER_CACHE_SECONDS`: [how long browsers may store](../how-to/cdn.md#lifetimes) its public files, and CDNs without a lifetime of their own',
    shown: 'in caches for',
  }),
  cdnCacheSeconds: cacheRule('--cdn-cache', {
    help: 'how long shared caches may store its public files; default: CDN_CACHE_SECONDS',
    example: '30d',
    effect: 'Replaces `CDN_CACHE_SECONDS`: the same for shared caches',
    shown: 'in CDNs for',
  }),
  staleWhileRevalidateSeconds: cacheRule('--stale-while-revalidate', {
    help: 'additional time in which caches may deliver a file while they request it again; default: STALE_WHILE_REVALIDATE_SECONDS',
    example: '1h',
    effect: 'Replaces `STALE_WHILE_REVALIDATE_SECONDS`',
    shown: 'stale while revalidating for',
  }),
  staleIfErrorSeconds: cacheRule('--stale-if-error', {
    help: 'additional time in which caches may deliver a file while Sluice fails; default: STALE_IF_ERROR_SECONDS',
    example: '1d',
    effect: 'Replaces `STALE_IF_ERROR_SECONDS`',
    shown: 'stale after errors for',
  }),
} satisfies Record<CacheField, Rule<number, number>>

function cacheRule(
  option: string,
  { help, example, effect, shown }: { help: string; example: string; effect: string; shown: string },
): Rule<number, number> {
  return integerRule({
    flags: `${option} <time|default>`,
    help,
    docs: { example, effect },
    min: 0,
    max: CACHE_MAX_SECONDS,
    unit: ' seconds',
    parse(text) {
      if (text === 'default') return false
      const ms = parseDuration(text)
      if (ms !== undefined) return ms / 1000
      throw new Error(`${option} must be from 0s to 365d, or default, received "${text}"`)
    },
    shown: (seconds) => `${shown} ${shownDuration(seconds * 1000)}`,
  })
}
