import { z } from 'zod'
import { REFUSED_SIGN_IN } from '../../../core/ports/audit-log.ts'
import { Problem } from '../../../core/problem.ts'
import { CHALLENGE_MS } from '../../../service/members/passkeys/challenges.ts'
import type { PasskeySignIn } from '../../../service/members/passkeys/passkey-sign-in.ts'
import { EXAMPLE } from '../../documents/examples.ts'
import { endpoint, json } from '../../endpoint/endpoint.ts'
import { bodyOf, replyOf } from '../../endpoint/named.ts'
import { addOwnEntry } from '../audited-by.ts'
import { passkeyCookie, setPasskeyCookie } from '../cookie.ts'
import { begin, LIMITED_SESSION, type SessionServices } from '../session-reply.ts'
import { limitPasskey, rememberSignIn } from '../sign-in-limit.ts'
import { bytes, challenge, clientDataJSON, credentialId, ORIGIN, ownOrigin, rpId, timeout } from './wire.ts'

/** The services that handle these requests. */
export interface Services extends SessionServices {
  passkeySignIn: PasskeySignIn
}

// A signature of RS256 with 8,192 bits.
const SIGNATURE_MAX_BYTES = 1024
// 37, and what extensions add.
const AUTHENTICATOR_DATA_MAX_BYTES = 1024
// https://www.w3.org/TR/webauthn-3/#user-handle
const USER_HANDLE_MAX_BYTES = 64

const request = replyOf(
  'PasskeyRequest',
  'Options for `PublicKeyCredential.parseRequestOptionsFromJSON()` of browsers.',
  { rpId, challenge, timeout, userVerification: z.literal('required') },
)
const usedPasskey = bodyOf('UsedPasskey', {
  id: credentialId,
  clientDataJSON,
  authenticatorData: bytes(AUTHENTICATOR_DATA_MAX_BYTES, 'What the device states.'),
  signature: bytes(SIGNATURE_MAX_BYTES, 'Signature of both.'),
  userHandle: bytes(USER_HANDLE_MAX_BYTES, 'ID of the member.'),
})

const beginPasskeySignIn = endpoint({
  route: 'POST /v1/session/passkey/options',
  id: 'beginPasskeySignIn',
  tag: 'Members',
  summary: 'Begin to sign in with a passkey',
  description: `The response is for \`navigator.credentials.get\` of this browser, within ${CHALLENGE_MS / 60_000} minutes.`,
  access: 'sameSite',
  parameters: [ORIGIN],
  responses: { 200: json(request, 'What the browser needs.', ['Set-Cookie']) },
  problems: ['400 unknown_origin'],
  examples: [
    {
      id: 'page',
      summary: 'From a page of the console',
      parameters: { Origin: EXAMPLE.baseUrl },
      status: 200,
    },
  ],

  handle({ passkeySignIn }: Services, { req, res }) {
    const begun = passkeySignIn.begin(ownOrigin(req))
    setPasskeyCookie({ req, res }, begun)
    const reply: z.input<typeof request> = {
      rpId: begun.rpId,
      challenge: begun.challenge,
      timeout: CHALLENGE_MS,
      userVerification: 'required',
    }
    return { json: reply }
  },
})

const finishPasskeySignIn = endpoint({
  route: 'POST /v1/session/passkey',
  id: 'finishPasskeySignIn',
  tag: 'Members',
  summary: 'Sign in to the console with a passkey',
  access: 'sameSite',
  body: usedPasskey,
  responses: { 200: LIMITED_SESSION },
  problems: [
    '401 passkey_unverified',
    '401 unknown_passkey',
    '401 wrong_passkey',
    '410 challenge_expired',
    '429 rate_limited',
  ],
  examples: [
    {
      id: 'unknown',
      summary: 'A passkey that was removed',
      body: {
        id: 'c29tZSBkZXZpY2U',
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
        authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
        signature: 'MEUCIQ',
        userHandle: 'OWhWY1Q1c1JtRHc',
      },
      status: 401,
    },
  ],

  async handle(services: Services, { req, res, body: answer }) {
    const { passkeySignIn, audit } = services
    await limitPasskey({ req, res }, services)
    setPasskeyCookie({ req, res }, { expiresAt: 0 })
    const { session, passkey } = await passkeySignIn.finish(answer, passkeyCookie(req)).catch((error) => {
      const member = passkeySignIn.memberOf(answer.id)
      // Anyone can send a passkey of nobody.
      if (member && error instanceof Problem && error.status === 401) {
        const details = { by: 'passkey', reason: error.code }
        addOwnEntry(req, { audit, action: REFUSED_SIGN_IN, member, details })
      }
      throw error
    })
    await rememberSignIn(req, session.member.email, services)
    const details = { by: 'passkey', passkey: passkey.name }
    addOwnEntry(req, { audit, action: 'session.sign-in', member: session.member, details })
    return begin({ req, res }, session, services)
  },
})

/** Sign-in with passkeys. */
export const PASSKEY_SIGN_IN = [beginPasskeySignIn, finishPasskeySignIn]
