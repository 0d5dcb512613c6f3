import { randomBytes } from 'node:crypto'

/** Bytes that no format begins with: 16 zeros, then random ones. The first bytes of random ones alone could be those of some format. */
export function noise(bytes: number): Buffer {
  return Buffer.concat([Buffer.alloc(16), randomBytes(Math.max(0, bytes - 16))]).subarray(0, bytes)
}
