import { z } from 'zod'
import { PASSKEYS_MAX, type Passkey } from '../../../core/members/member.ts'
import { PASSKEY_ALGORITHMS } from '../../../core/ports/members/passkey-verifier.ts'
import { CHALLENGE_MS } from '../../../service/members/passkeys/challenges.ts'
import type { OwnPasskeys } from '../../../service/members/passkeys/own-passkeys.ts'
import { endpoint, json } from '../../endpoint/endpoint.ts'
import { bodyOf, named, replyOf } from '../../endpoint/named.ts'
import { instant, iso } from '../../wire/instant.ts'
import { addOwnEntry } from '../audited-by.ts'
import { passkeyCookie, setPasskeyCookie, setSessionCookie } from '../cookie.ts'
import { newName } from '../fields.ts'
import type { SessionServices } from '../session-reply.ts'
import { limitPasskey } from '../sign-in-limit.ts'
import { bytes, challenge, clientDataJSON, credentialId, ORIGIN, ownOrigin, timeout } from './wire.ts'

/** The services that handle these requests. */
export interface Services extends SessionServices {
  ownPasskeys: OwnPasskeys
}

// An attestation statement, which some password managers add without a request, has certificates.
const ATTESTATION_MAX_BYTES = 8 * 1024
const BODY_MAX_BYTES = 16 * 1024

const passkey = replyOf('Passkey', 'A passkey of a member.', {
  id: z.string().describe('ID of the passkey.'),
  name: z.string().describe('Name that the member has chosen.'),
  origin: z.string().describe('Address of the console at which it signs in.'),
  createdAt: instant('When it was added.'),
  lastUsedAt: instant('When the member last signed in with it.').optional(),
})
const passkeyList = named(
  'PasskeyList',
  z.object({ passkeys: z.array(passkey).describe('The oldest first.') }),
)
const known = z.object({ type: z.literal('public-key'), id: z.string().describe('In base64url.') })
const creation = replyOf(
  'PasskeyCreation',
  'Options for `PublicKeyCredential.parseCreationOptionsFromJSON()` of browsers.',
  {
    rp: z.object({ id: z.string(), name: z.string() }).describe('The service.'),
    user: z
      .object({ id: z.string(), name: z.string(), displayName: z.string() })
      .describe('The member. The ID is in base64url.'),
    challenge,
    pubKeyCredParams: z
      .array(z.object({ type: z.literal('public-key'), alg: z.int() }))
      .describe('The accepted algorithms, by their COSE numbers.'),
    timeout,
    excludeCredentials: z.array(known).describe('Passkeys of the member.'),
    authenticatorSelection: z.object({
      residentKey: z.literal('required'),
      requireResidentKey: z.literal(true),
      userVerification: z.literal('required'),
    }),
    attestation: z.literal('none'),
  },
)
const newPasskey = bodyOf('NewPasskey', {
  name: newName.describe('Name by which the member recognizes the passkey.'),
  id: credentialId,
  clientDataJSON,
  attestationObject: bytes(ATTESTATION_MAX_BYTES, 'The public key. Its attestation is not read.'),
})

const listPasskeys = endpoint({
  route: 'GET /v1/session/passkeys',
  id: 'listPasskeys',
  tag: 'Members',
  summary: 'List the passkeys of the signed-in member',
  access: 'session',
  responses: { 200: json(passkeyList, 'The passkeys. The operator cannot have any.') },
  problems: ['404 member_not_found'],
  examples: [
    { id: 'operator', summary: 'The operator cannot have any', status: 200, response: { passkeys: [] } },
  ],

  async handle({ ownPasskeys }: Services, { caller }) {
    const list: z.input<typeof passkeyList> = { passkeys: (await ownPasskeys.list(caller)).map(toWire) }
    return { json: list }
  },
})

const beginPasskey = endpoint({
  route: 'POST /v1/session/passkeys/options',
  id: 'beginPasskey',
  tag: 'Members',
  summary: 'Begin to add a passkey',
  description: `The response is for \`navigator.credentials.create\` of this browser, within ${CHALLENGE_MS / 60_000} minutes. The sign-in must be of the last 10 minutes.`,
  access: 'session',
  parameters: [ORIGIN],
  responses: { 200: json(creation, 'What the browser needs.', ['Set-Cookie']) },
  problems: [
    '400 unknown_origin',
    '403 sign_in_again',
    '404 member_not_found',
    '409 no_password',
    '409 operator_session',
    '409 too_many_passkeys',
  ],
  examples: [{ id: 'operator', summary: 'The operator has no passkeys', status: 409 }],

  async handle({ ownPasskeys }: Services, { req, res, caller }) {
    const begun = await ownPasskeys.begin(caller, ownOrigin(req))
    setPasskeyCookie({ req, res }, begun)
    const { member, existing, rpId: id } = begun
    const reply: z.input<typeof creation> = {
      rp: { id, name: 'Sluice' },
      user: {
        id: Buffer.from(member.id).toString('base64url'),
        name: member.email,
        displayName: member.name,
      },
      challenge: begun.challenge,
      pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: CHALLENGE_MS,
      excludeCredentials: existing.map((each) => ({ type: 'public-key', id: each })),
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      attestation: 'none',
    }
    return { json: reply }
  },
})

const addPasskey = endpoint({
  route: 'POST /v1/session/passkeys',
  id: 'addPasskey',
  tag: 'Members',
  summary: 'Add a passkey',
  description: `A member has at most ${PASSKEYS_MAX}. They are for sign-in at this address alone.`,
  access: 'session',
  body: newPasskey,
  bodyMaxBytes: BODY_MAX_BYTES,
  responses: { 200: json(passkey, 'The passkey.', ['Set-Cookie', 'RateLimit', 'RateLimit-Policy']) },
  problems: [
    '403 passkey_unverified',
    '403 wrong_passkey',
    '404 member_not_found',
    '409 operator_session',
    '409 passkey_exists',
    '409 too_many_passkeys',
    '410 challenge_expired',
    '429 rate_limited',
  ],
  examples: [
    {
      id: 'operator',
      summary: 'The operator has no passkeys',
      body: {
        name: 'Laptop',
        id: 'c29tZSBkZXZpY2U',
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
        attestationObject: 'o2NmbXRkbm9uZQ',
      },
      status: 409,
    },
  ],

  async handle({ ownPasskeys, audit, limits }: Services, { req, res, caller, body: { name, ...answer } }) {
    await limitPasskey({ req, res }, { limits })
    setPasskeyCookie({ req, res }, { expiresAt: 0 })
    const added = await ownPasskeys.add(caller, { name, answer, cookie: passkeyCookie(req) })
    const details = { passkey: added.name }
    addOwnEntry(req, { audit, action: 'session.add-passkey', member: caller.member, details })
    return { json: toWire(added) }
  },
})

const removePasskey = endpoint({
  route: 'DELETE /v1/session/passkeys/:id',
  id: 'removePasskey',
  tag: 'Members',
  summary: 'Remove a passkey of the signed-in member',
  description:
    'It ends all other sessions of the member: a lost device may have one. The sign-in must be of the last 10 minutes.',
  access: 'session',
  parameters: [ORIGIN],
  responses: { 204: { description: 'Removed.', headers: ['Cache-Control', 'Set-Cookie'] } },
  problems: [
    '400 unknown_origin',
    '403 sign_in_again',
    '404 member_not_found',
    '404 passkey_not_found',
    '409 last_passkey',
    '409 operator_session',
  ],
  examples: [
    {
      id: 'operator',
      summary: 'The operator cannot have any',
      parameters: { id: '7xWnB4tQeKm' },
      status: 409,
    },
  ],

  async handle({ ownPasskeys, audit }: Services, { req, res, caller, params }) {
    const { removed, session } = await ownPasskeys.remove(caller, params.id ?? '', ownOrigin(req))
    const details = { passkey: removed.name }
    addOwnEntry(req, { audit, action: 'session.remove-passkey', member: caller.member, details })
    setSessionCookie({ req, res }, session)
    return {}
  },
})

/** The passkeys of the signed-in member. */
export const OWN_PASSKEYS = [listPasskeys, beginPasskey, addPasskey, removePasskey]

function toWire({ id, name, origin, createdAt, lastUsedAt }: Passkey): z.input<typeof passkey> {
  return {
    ...{ id, name, origin, createdAt: iso(createdAt) },
    ...(lastUsedAt === undefined ? {} : { lastUsedAt: iso(lastUsedAt) }),
  }
}
