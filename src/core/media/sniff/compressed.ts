import { constants, gunzipSync } from 'node:zlib'
import { type Format, knownFormat } from '../formats.ts'

const START_BYTES = 4096

/**
 * Returns the format of gzip data: `svgz` when the content begins as an SVG, otherwise `gzip`.
 *
 * @param markup returns the format of a text from its start
 */
export function compressedFormat(head: Uint8Array, markup: (start: string) => Format | undefined): Format {
  return markup(inflatedStart(head))?.name === 'svg' ? knownFormat('svgz') : knownFormat('gzip')
}

function inflatedStart(head: Uint8Array): string {
  try {
    // Only a part of the file is inflated: 4 KiB inflate to at most 4 MiB.
    const bytes = gunzipSync(head.subarray(0, START_BYTES), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: 8 * 1024 * 1024,
    })
    return bytes.toString('utf8', 0, START_BYTES)
  } catch {
    return ''
  }
}
