import type { IncomingHttpHeaders } from 'node:http'
import {
  checkDigests,
  type DigestAlgorithm,
  type DigestCheck,
  type ExpectedDigest,
} from '../../core/bytes/expected-digests.ts'
import { badParameter } from '../../core/problem.ts'

/** The algorithms of RFC 9530 that count as secure. The others are ignored, as its section 5 allows. */
const ALGORITHMS: Readonly<Record<string, { algorithm: DigestAlgorithm; bytes: number }>> = {
  'sha-256': { algorithm: 'sha256', bytes: 32 },
  'sha-512': { algorithm: 'sha512', bytes: 64 },
}
const MD5_BYTES = 16

// A dictionary of byte sequences: RFC 9651 sections 3.2 and 3.3.5. Parameters of a member have no meaning here.
const MEMBER = /^([a-z*][a-z0-9_.*-]*)(?:=(?::([A-Za-z0-9+/]*={0,2}):|[^\s:,;]+))?(?:;[^,]*)?$/

/** The headers with digests of a request's body, or of a part of a form. */
const DIGEST_HEADERS = ['Content-Digest', 'Repr-Digest', 'Content-MD5'] as const
export type DigestHeader = (typeof DIGEST_HEADERS)[number]

/** Compares a request's body with the digests in its headers. Undefined without one. @throws Problem 400 for a malformed header */
export function bodyDigests(headers: IncomingHttpHeaders): DigestCheck | undefined {
  return checkDigests(
    DIGEST_HEADERS.flatMap((name) => digestsIn(name, headers[name.toLowerCase()] as string | undefined)),
  )
}

/** Compares a part of a form with the digests in its header. Undefined without one. @throws Problem 400 */
export function partDigests(header: Buffer): DigestCheck | undefined {
  const lines = header.toString('latin1').split('\r\n')
  return checkDigests(
    DIGEST_HEADERS.flatMap((name) => {
      const prefix = `${name.toLowerCase()}:`
      const line = lines.find((one) => one.toLowerCase().startsWith(prefix))
      return digestsIn(name, line?.slice(prefix.length))
    }),
  )
}

/**
 * The digests in the value of a header.
 *
 * @throws Problem 400 for a malformed value, or a digest of another length
 * @see RFC 9530 sections 2 and 3; RFC 1864 for `Content-MD5`
 */
export function digestsIn(header: DigestHeader, value: string | undefined): ExpectedDigest[] {
  if (value === undefined) return []
  if (header === 'Content-MD5') {
    const base64 = value.trim()
    if (!isBase64(base64, MD5_BYTES)) throw badDigest(header, 'the MD5 of the body in base64', value)
    return [{ header, algorithm: 'md5', base64 }]
  }
  return value.split(',').flatMap((text) => {
    const member = MEMBER.exec(text.trim())
    if (!member) throw badDigest(header, 'digests such as sha-256=:<base64>:', value)
    const [, name = '', base64] = member
    const known = Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined
    if (!known) return []
    if (base64 === undefined || !isBase64(base64, known.bytes))
      throw badDigest(header, `${name}=:<${known.bytes} bytes in base64>:`, value)
    return [{ header, algorithm: known.algorithm, base64 }]
  })
}

function isBase64(text: string, bytes: number): boolean {
  const decoded = Buffer.from(text, 'base64')
  return decoded.length === bytes && decoded.toString('base64') === text
}

function badDigest(param: string, expected: string, received: string) {
  return badParameter({ param, expected, received })
}
