import { crc32 as nativeCrc32 } from 'node:zlib'
import crc32 from 'crc-32'

/**
 * Replaces the checksum function of archiver, which is written in JavaScript and takes a quarter of an archive's CPU, by that
 * of zlib. archiver's streams take it from this module object at each call.
 */
export function useNativeCrc(): void {
  // The first seed of a stream is an empty buffer.
  crc32.buf = (bytes, seed) => nativeCrc32(bytes as Uint8Array, typeof seed === 'number' ? seed >>> 0 : 0)
}
