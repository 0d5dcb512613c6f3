import { createHash } from 'node:crypto'
import { Problem } from '../problem.ts'

/** A digest that a request states of bytes. */
export interface ExpectedDigest {
  /** The header that states it. */
  header: string
  algorithm: DigestAlgorithm
  /** The digest in base64. */
  base64: string
}

export type DigestAlgorithm = 'md5' | 'sha256' | 'sha512'

/** Compares bytes with digests, while they stream. */
export interface DigestCheck {
  add(bytes: Uint8Array): void
  /** Called after the last byte. @throws Problem 400 `digest_mismatch` */
  verify(): void
}

/** @returns undefined when nothing is expected */
export function checkDigests(expected: readonly ExpectedDigest[]): DigestCheck | undefined {
  if (expected.length === 0) return undefined
  const hashes = expected.map((one) => ({ ...one, hash: createHash(one.algorithm) }))
  return {
    add(bytes) {
      for (const { hash } of hashes) hash.update(bytes)
    },
    verify() {
      for (const { hash, header, base64 } of hashes)
        if (hash.digest('base64') !== base64) throw digestMismatch(header)
    },
  }
}

/** Passes the bytes on, and fails instead of ending when they are not the expected ones. @throws Problem 400 `digest_mismatch` */
export async function* verified(
  bytes: AsyncIterable<Buffer>,
  expected: readonly ExpectedDigest[],
): AsyncGenerator<Buffer> {
  const check = checkDigests(expected)
  for await (const chunk of bytes) {
    check?.add(chunk)
    yield chunk
  }
  check?.verify()
}

/** 400: the bytes were damaged on their way, or the digest is of other bytes. */
export function digestMismatch(header: string): Problem {
  return new Problem({
    status: 400,
    code: 'digest_mismatch',
    detail: `expected bytes with the digest in ${header} but received others; nothing was stored`,
    members: { param: header },
  })
}
