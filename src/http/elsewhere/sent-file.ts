import type { IncomingMessage } from 'node:http'
import type { Asset, ByteRange } from '../../core/bytes/asset.ts'
import type { Encoding } from '../../core/media/encodings.ts'
import { isSandboxed } from '../../core/media/formats.ts'

/** The response that another server may complete. */
export interface SentFile {
  asset: Asset
  /** The encoding of the bytes. */
  encoding?: Encoding | undefined
  /** The ranges to send; absent for the complete file. */
  ranges?: readonly ByteRange[] | undefined
  /** How long caches may store the response. */
  maxAgeSeconds: number
  /** Called before the headers are changed, when the response may be repeated from memory. */
  beforeChange?: (() => void) | undefined
}

// Another server would compare them with its own ETag and date of the file.
const COMPARED = ['if-match', 'if-modified-since', 'if-unmodified-since'] as const

/** Whether another server would send the same response as this service. */
export function mayBeElsewhere(
  { headers }: IncomingMessage,
  { asset, encoding, ranges }: Pick<SentFile, 'asset' | 'encoding' | 'ranges'>,
): boolean {
  return (
    isPlainFile({ asset, encoding }) &&
    (ranges === undefined ? isWhole(headers) : ranges.length === 1) &&
    COMPARED.every((name) => headers[name] === undefined)
  )
}

/** Without ranges, the request has none, or they are void by `If-Range`. Others, such as too many, must not reach the other server. */
function isWhole(headers: IncomingMessage['headers']): boolean {
  return headers.range === undefined || headers['if-range'] !== undefined
}

/** Whether the bytes are those of the file, and no header has to protect its readers. */
export function isPlainFile({ asset, encoding }: Pick<SentFile, 'asset' | 'encoding'>): boolean {
  // Without its `Content-Security-Policy`, such a file could run scripts.
  return encoding === undefined && !isSandboxed(asset.mediaType)
}
