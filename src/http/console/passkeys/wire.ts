import type { Request } from 'express'
import { z } from 'zod'
import { CREDENTIAL_ID_MAX_BYTES } from '../../../core/members/member.ts'
import { header } from '../../documents/parameters.ts'

// Members of request bodies and responses that concern passkeys, as browsers have them in JSON.
// https://www.w3.org/TR/webauthn-3/#sctn-parseCreationOptionsFromJSON

/** Bytes as a text of base64url without padding. */
export function bytes(max: number, description: string) {
  const expected = `1 to ${max} bytes in base64url`
  return z
    .string(expected)
    .max(Math.ceil((max * 4) / 3), expected)
    .regex(/^[\w-]+$/, expected)
    .describe(description)
}

export const credentialId = bytes(CREDENTIAL_ID_MAX_BYTES, 'ID that the device has chosen.')
// It has the challenge, the origin, and what a browser adds.
export const clientDataJSON = bytes(2048, 'What the browser has seen.')

/** How long the browser waits, in milliseconds. */
export const timeout = z.int().describe('How long the browser waits for the person, in milliseconds.')
export const challenge = z.string().describe('32 random bytes in base64url, valid once.')
export const rpId = z.string().describe('Host name for which browsers use the passkey.')

export const ORIGIN = header(
  'Origin',
  'Origin of the page. Browsers send it. Without `BASE_URL`, its host must be that of `Host`.',
)

/**
 * The origin of the page that sends the request, when it is this service: its host is the one to which the request was sent. A browser
 * sets both headers. Another sender can state what it likes, so a passkey counts only at the origin with which it was added: browsers
 * also use it at other ports of the host, where a page could pass on what it signs.
 */
export function ownOrigin({ headers: { origin, host } }: Request): string | undefined {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return undefined
  const url = new URL(origin)
  const own = `${url.protocol}//${host}`
  const isOwn = /^https?:$/.test(url.protocol) && URL.canParse(own) && new URL(own).host === url.host
  return isOwn ? url.origin : undefined
}
