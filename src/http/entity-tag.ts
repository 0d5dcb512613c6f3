import { sha256 } from '../core/bytes/digest.ts'

/** The entity tag of a response with this content, unquoted. */
export function tagOf(content: string | Buffer): string {
  return sha256(content).slice(0, 32)
}
