import { constants, gunzipSync } from 'node:zlib'
import { type Format, knownFormat } from '../formats.ts'

const START_BYTES = 4096

/**
 * The format of gzip data: `svgz` when it starts as an SVG, else `gzip`.
 *
 * @param markup the format of a text that starts so
 */
export function compressedFormat(head: Uint8Array, markup: (start: string) => Format | undefined): Format {
  return markup(inflatedStart(head))?.name === 'svg' ? knownFormat('svgz') : knownFormat('gzip')
}

function inflatedStart(head: Uint8Array): string {
  try {
    // A part of the file is given, and 4 MiB are the most that 4 KiB can inflate to.
    const bytes = gunzipSync(head.subarray(0, START_BYTES), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: 8 * 1024 * 1024,
    })
    return bytes.toString('utf8', 0, START_BYTES)
  } catch {
    return ''
  }
}
