import { privateRanges } from './address.ts'
import { oneOf, text, type Variable } from './variable.ts'

/** The CDN from which files are purged. */
export const PURGE_VARIABLES = {
  CDN_PURGE: oneOf({
    words: ['off', 'cloudflare', 'fastly', 'cloudfront', 'bunny', 'url'],
    default: 'off',
    help: 'CDN from which deleted, moved and private files, and changed aliases, are purged: see docs/how-to/cdn.md. url: any cache, by CDN_PURGE_URL.',
  }),
  CDN_PURGE_ID: text({
    pattern: /^[\w-]{1,64}$/,
    expected: '1 to 64 letters, digits, "-" or "_"',
    help: 'Zone of Cloudflare, service of Fastly, distribution of CloudFront, or pull zone of Bunny.',
  }),
  CDN_PURGE_TOKEN: text({
    pattern: /^[\x21-\x7e]{1,512}$/,
    expected: '1 to 512 printable characters without spaces',
    secret: true,
    help: 'API token of the CDN. For CloudFront: access key ID and secret access key, separated by a colon.',
  }),
  CDN_PURGE_URL: text({
    pattern: /^(?:https?:\/\/\S{1,2000}|\{url\})$/,
    expected: 'an http or https URL, or {url}',
    secret: true,
    help: 'URL of purge requests with CDN_PURGE=url. {tag}, {tags}, {url} and {path} are replaced.',
  }),
  CDN_PURGE_METHOD: oneOf({
    words: ['PURGE', 'POST', 'PUT', 'DELETE', 'GET'],
    default: 'PURGE',
    help: 'Method of purge requests with CDN_PURGE=url.',
  }),
  CDN_PURGE_HEADERS: text({
    pattern: /^[\w-]{1,100}: [\x20-\x7e]{1,2000}(?:\n[\w-]{1,100}: [\x20-\x7e]{1,2000})*$/,
    expected: 'lines like "xkey-purge: {tag}"',
    secret: true,
    help: 'Headers of purge requests with CDN_PURGE=url, one per line. {tag}, {tags}, {url} and {path} are replaced.',
  }),
  CDN_PURGE_ALLOW_ADDRESSES: privateRanges(
    'Private IP ranges that purge requests may be sent to. Private addresses are refused when unset.',
  ),
} satisfies Record<string, Variable<unknown>>
