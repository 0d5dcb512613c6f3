import { z } from 'zod'
import { type MemberTable, NO_SESSIONS, ROLES } from '../../core/members/member.ts'
import { seal, unseal } from '../../core/signing/seal.ts'

const sessions = z.object({
  generation: z.int().min(0),
  ended: z.array(z.object({ id: z.string(), until: z.number() })),
})

const passkey = z.object({
  id: z.string(),
  credentialId: z.string(),
  publicKey: z.string(),
  origin: z.string(),
  counter: z.int().min(0),
  name: z.string(),
  createdAt: z.number(),
  lastUsedAt: z.number().optional(),
})

const memberTable = z.object({
  members: z.array(
    z.object({
      id: z.string(),
      email: z.string(),
      name: z.string(),
      role: z.enum(ROLES),
      clients: z.union([z.literal('all'), z.array(z.string())]),
      createdAt: z.number(),
      password: z.string().optional(),
      passkeys: z.array(passkey).optional(),
      identity: z.object({ issuer: z.string(), subject: z.string() }).optional(),
      invitedUntil: z.number().optional(),
      sessions,
    }),
  ),
  operatorSessions: sessions,
})

/** The table of an installation without members. */
export const NO_MEMBERS: MemberTable = { members: [], operatorSessions: NO_SESSIONS }

const PLACE = 'members'

/**
 * The object in the bucket, encrypted: a bucket may be public, and its readers must not get email addresses, or
 * digests against which passwords can be tried.
 *
 * @param key 32 bytes, for this purpose alone
 */
export function serializeMembers(table: MemberTable, key: Buffer): Buffer {
  return Buffer.from(seal(JSON.stringify(memberTable.parse(table)), { key, place: PLACE }))
}

/**
 * Returns the members in an object; undefined when it was encrypted with another key, or is damaged.
 *
 * @throws Error when the content is of another version
 */
export function parseMembers(bytes: Uint8Array, key: Buffer): MemberTable | undefined {
  let text: string
  try {
    text = unseal(Buffer.from(bytes).toString('utf8'), { key, place: PLACE })
  } catch {
    return undefined
  }
  // Zod types optional members as possibly undefined. JSON has no undefined, so the cast is safe.
  return memberTable.parse(JSON.parse(text)) as MemberTable
}
