import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { isVisible, ROLES } from '../../core/members/member.ts'
import type { ReadLink } from '../../service/members/links.ts'
import type { ListedMember } from '../../service/members/members.ts'
import type { MemberSession } from '../../service/members/sessions.ts'
import { instant } from './record.ts'

const role = z
  .enum(ROLES)
  .describe('`viewer` reads, `editor` also changes files, `owner` manages everything.')
const email = z.string().describe('Email address to sign in with.')
const name = z.string().describe('Name for people.')
const visible = z
  .union([z.literal('all'), z.array(z.string())])
  .describe('The clients that the member may see.')

/** A session of the console. */
export const session = z
  .object({
    member: z.object({
      id: z.string().describe('ID of the member; `operator` for ADMIN_PASSWORD.'),
      email: email.optional(),
      name,
      role,
    }),
    clients: z
      .array(
        z.object({
          id: z.string().describe('ID of the client, for the header `Sluice-Client`.'),
          name: z.string().describe('Name that the operator has set.').optional(),
          token: z.string().describe('Public token of the client, part of its URLs.'),
          signedUrls: z.boolean().describe('Whether all its delivery URLs must be signed.'),
          privateFolders: z
            .array(z.string())
            .describe('Folders whose delivery URLs must be signed.')
            .optional(),
        }),
      )
      .describe('The clients that the member may see.'),
    expiresAt: instant('When the session expires. It is extended while it is used.'),
    isSetUp: z.boolean().describe('Whether there is a member. Otherwise, only the operator can sign in.'),
  })
  .describe('A session of the console.')

/** What a link is for. */
export const memberLink = z
  .object({
    purpose: z
      .enum(['setup', 'invitation', 'reset'])
      .describe('`setup` creates the first owner, the others set the password of a member.'),
    email: email.optional(),
    name: name.optional(),
    role,
    expiresAt: instant('When the link expires.'),
  })
  .describe('A link by which a person chooses a password.')

/** A member as an owner sees them. */
export const member = z
  .object({
    id: z.string().describe('ID of the member.'),
    email,
    name,
    role,
    clients: visible,
    createdAt: instant('When the member was invited.'),
    lastSeenAt: instant('When the member last used the console, within ten minutes.').optional(),
    invitedUntil: instant('When the invitation expires. Absent: it was accepted.').optional(),
  })
  .describe('A member of the console.')

export const memberList = z.object({ members: z.array(member).describe('The oldest first.') })

const url = z.string().describe('URL to send to the member. It is only in this response.')

export const newMemberLink = z
  .object({ link: url, expiresAt: instant('When the link expires.') })
  .describe('A link for a new password.')

export const invitedMember = z
  .object({ member, ...newMemberLink.shape })
  .describe('A new member, and the link of the invitation.')

/** @param state `clients`: all of them, of which those are shown that the member may see */
export function sessionToWire(
  { member: { id, email: address, name: shown, role: own, clients: ids }, expiresAt }: MemberSession,
  { clients, isSetUp }: { clients: readonly Client[]; isSetUp: boolean },
): z.input<typeof session> {
  return {
    member: { id, ...(address === undefined ? {} : { email: address }), name: shown, role: own },
    clients: clients.filter((one) => !one.removing && isVisible(ids, one.id)).map(clientToWire),
    expiresAt: iso(expiresAt),
    isSetUp,
  }
}

function clientToWire({ id, name: shown, token, rules }: Client): z.input<typeof session>['clients'][number] {
  return {
    id,
    ...(shown === undefined ? {} : { name: shown }),
    token,
    signedUrls: rules?.signedUrls ?? false,
    ...(rules?.privateFolders ? { privateFolders: [...rules.privateFolders] } : {}),
  }
}

export function linkToWire({ purpose, member: one, expiresAt }: ReadLink): z.input<typeof memberLink> {
  return {
    purpose,
    ...(one ? { email: one.email, name: one.name } : {}),
    role: one?.role ?? 'owner',
    expiresAt: iso(expiresAt),
  }
}

export function memberToWire(one: ListedMember): z.input<typeof member> {
  const { id, email: address, name: shown, role: own, clients, createdAt, lastSeenAt, invitedUntil } = one
  return {
    id,
    email: address,
    name: shown,
    role: own,
    clients: clients === 'all' ? 'all' : [...clients],
    createdAt: iso(createdAt),
    ...(lastSeenAt === undefined ? {} : { lastSeenAt: iso(lastSeenAt) }),
    ...(invitedUntil === undefined ? {} : { invitedUntil: iso(invitedUntil) }),
  }
}

/** @param instant in milliseconds since 1970 */
export function iso(at: number): string {
  return new Date(at).toISOString()
}
