import { randomBytes } from 'node:crypto'

/** At least 16 bytes that no format begins with, and that no two files share: random ones could be those of some format. */
export function noise(bytes: number): Buffer {
  return Buffer.concat([Buffer.alloc(16), randomBytes(bytes - 16)])
}
