import { CACHE_MAX_SECONDS } from '../src/core/caching/cache-settings.ts'
import { integer, listOf, oneOf, type Variable } from './variable.ts'

const GIB = 1024 ** 3
const TAG_HEADERS = ['cache-tag', 'cdn-tag', 'edge-cache-tag', 'surrogate-key', 'xkey']

/** How responses with files are sent, cached by browsers and CDNs, and purged. */
export const CACHING_VARIABLES = {
  HOT_CACHE_BYTES: integer({
    min: 0,
    max: 64 * GIB,
    unit: 'bytes',
    default: 64_000_000,
    help: 'Memory of each web process for responses with small stored files, which it then sends without reading index and bucket. 0: disabled.',
  }),
  FULL_CONTENT_RANGE: oneOf({
    words: ['auto', 'always', 'never'],
    default: 'auto',
    help: 'Whether a 200 has the header "Content-Range: bytes 0 - <size>". auto: except through a proxy and for aria2.',
  }),
  NO_COMPRESSION: oneOf({
    words: ['0', '1'],
    default: '0',
    help: 'Whether texts (SVG, JSON, CSV, HTML, playlists, …) are sent as they are to clients that accept Brotli or gzip. 1: for a proxy in front that compresses them.',
  }),
  BROWSER_CACHE_SECONDS: integer({
    min: 0,
    max: CACHE_MAX_SECONDS,
    unit: 'seconds',
    default: 604_800,
    help: 'Lifetime of public files in browsers, and in CDNs without a lifetime of their own (max-age). Rules of clients and presets may replace it.',
  }),
  CDN_CACHE_SECONDS: integer({
    min: 0,
    max: CACHE_MAX_SECONDS,
    unit: 'seconds',
    help: 'Lifetime of public files in shared caches (s-maxage), if it differs. Rules of clients and presets may replace it.',
  }),
  STALE_WHILE_REVALIDATE_SECONDS: integer({
    min: 0,
    max: CACHE_MAX_SECONDS,
    unit: 'seconds',
    default: 0,
    help: 'Additional time in which caches may deliver a public file while they request it again.',
  }),
  STALE_IF_ERROR_SECONDS: integer({
    min: 0,
    max: CACHE_MAX_SECONDS,
    unit: 'seconds',
    default: 0,
    help: 'Additional time in which caches may deliver a public file while Sluice responds with errors or not at all.',
  }),
  CDN_CACHE_HEADER: oneOf({
    words: ['s-maxage', 'cdn-cache-control', 'surrogate-control'],
    default: 's-maxage',
    help: 'Where shared caches find their lifetime: s-maxage in Cache-Control, or a header of its own, which browsers ignore.',
  }),
  CDN_TAGS: listOf({
    item: (word) => TAG_HEADERS.includes(word),
    expected: `one or more of ${TAG_HEADERS.join(', ')}, separated by spaces or commas`,
    help: 'Headers with tags for CDNs, by which one purge deletes a file with all its derivatives, a folder, or all files of a client. See docs/how-to/cdn.md. No tags when unset.',
  }),
} satisfies Record<string, Variable<unknown>>
