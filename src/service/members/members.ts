import { newClientId } from '../../core/clients/client.ts'
import {
  foldedEmail,
  hasCredential,
  isActiveOwner,
  isOfOrganisation,
  isPasskeyOnly,
  type Member,
  type MemberTable,
  NO_SESSIONS,
  type Role,
  type VisibleClients,
} from '../../core/members/member.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { MemberStore } from '../../core/ports/members/member-store.ts'
import { badParameter } from '../../core/problem.ts'
import type { LastSeen } from './last-seen.ts'
import type { IssuedLink, MemberLinks } from './links.ts'
import { emailTaken, hasNoPassword, lastOwner, noSuchMember, tooManyMembers } from './member-problems.ts'
import { nameIn } from './sign-in.ts'

/** A member as an owner sees them. Times are in milliseconds since 1970. */
export interface ListedMember extends Omit<Member, 'password' | 'passkeys' | 'sessions' | 'identity'> {
  /** Whether the member signs in with an identity provider alone. */
  isOfOrganisation: boolean
  /** How many there are. */
  passkeys: number
  /** Whether the member has passkeys and no password. */
  isPasskeyOnly: boolean
  /** Undefined when the member has not signed in yet, or it is unknown. */
  lastSeenAt: number | undefined
}

/** The members as an owner manages them. */
export interface Members {
  /** The oldest first. @throws Problem 503 */
  list(): Promise<ListedMember[]>
  /** Adds a member, and returns the link of the invitation. @throws Problem 400 for an unknown client, 409, 503 */
  invite(invited: Invitation): Promise<{ member: ListedMember; link: IssuedLink }>
  /**
   * A client that was deleted since the member was given it is left out.
   * @throws Problem 400 for another unknown client, 404, 409 for the last owner, 503
   */
  update(id: string, changes: MemberChanges): Promise<ListedMember>
  /** Removes a member, whose sessions and links end. @throws Problem 404, 409 for the last owner, 503 */
  remove(id: string): Promise<Member>
  /** A link for another password, or a new invitation, which ends the former one. @throws Problem 404, 409 for a member of the identity provider, 503 */
  link(id: string): Promise<{ member: Member; link: IssuedLink }>
}

export interface Invitation {
  email: string
  name?: string | undefined
  role: Role
  clients: VisibleClients
}

export type MemberChanges = Partial<Pick<Member, 'name' | 'role' | 'clients'>>

const DAY_MS = 86_400_000
const INVITED_MS = 7 * DAY_MS
const RESET_MS = DAY_MS
// All members are in one object, which each change writes.
/** Maximum number of members. */
const MEMBERS_MAX = 500
/** With this many members, only invited people become further ones. */
export const JOINED_MAX = 450

export function createMembers({
  store,
  clients,
  links,
  lastSeen,
  issuer,
  now = Date.now,
}: {
  store: MemberStore
  clients: Pick<ClientStore, 'find' | 'refresh'>
  links: MemberLinks
  lastSeen: LastSeen
  /** The identity provider; undefined without one. */
  issuer?: string | undefined
  now?: () => number
}): Members {
  /**
   * The clients that exist.
   * @param held those that the member may have already: of these, a deleted one is no error
   * @throws Problem 400 for an unknown client
   */
  async function existing(visible: VisibleClients, held: VisibleClients = []): Promise<VisibleClients> {
    if (visible === 'all') return visible
    await clients.refresh()
    const unknown = visible.find((id) => !clients.find(id) && (held === 'all' || !held.includes(id)))
    if (unknown !== undefined)
      throw badParameter({ param: 'clients', expected: 'IDs of clients', received: unknown })
    return [...new Set(visible)].filter((id) => clients.find(id))
  }

  async function listed(member: Member): Promise<ListedMember> {
    const { password: _, sessions: __, identity: ___, passkeys = [], ...rest } = member
    return {
      ...rest,
      isOfOrganisation: isOfOrganisation(member, issuer),
      passkeys: passkeys.length,
      isPasskeyOnly: isPasskeyOnly(member),
      lastSeenAt: await lastSeen.of(member.id),
    }
  }

  /** Replaces a member, or removes it for `undefined`. @throws Problem 404, 409 when no owner would be left */
  function change(id: string, make: (member: Member) => Member | undefined): Promise<Member> {
    return store.change((table) => {
      const member = found(table, id)
      const changed = make(member)
      const members = table.members.flatMap((one) => (one.id === id ? (changed ?? []) : one))
      if (isActiveOwner(member) && !members.some(isActiveOwner)) throw lastOwner()
      return { table: { ...table, members }, result: changed ?? member }
    })
  }

  return {
    async list() {
      await store.refresh()
      return Promise.all(store.table().members.map(listed))
    },
    async invite({ email, name, role, clients: chosen }) {
      const visible = await existing(chosen)
      const invitedUntil = now() + INVITED_MS
      const member: Member = {
        id: newClientId(),
        email: foldedEmail(email),
        name: name ?? nameIn(email),
        role,
        clients: role === 'owner' ? 'all' : visible,
        createdAt: now(),
        invitedUntil,
        sessions: NO_SESSIONS,
      }
      await store.change((table) => {
        if (table.members.some((one) => one.email === member.email)) throw emailTaken()
        if (table.members.length >= MEMBERS_MAX) throw tooManyMembers(MEMBERS_MAX)
        return { table: { ...table, members: [...table.members, member] }, result: undefined }
      })
      return { member: await listed(member), link: links.of(member, invitedUntil) }
    },
    async update(id, { name, role, clients: chosen }) {
      await store.refresh()
      const visible = chosen && (await existing(chosen, found(store.table(), id).clients))
      const changed = await change(id, (member) => {
        const after = { ...member, name: name ?? member.name, role: role ?? member.role }
        return { ...after, clients: after.role === 'owner' ? 'all' : (visible ?? member.clients) }
      })
      return listed(changed)
    },
    remove: (id) => change(id, () => undefined),
    async link(id) {
      await store.refresh()
      const member = found(store.table(), id)
      if (isOfOrganisation(member, issuer)) throw hasNoPassword()
      if (hasCredential(member)) return { member, link: links.of(member, now() + RESET_MS) }
      const invitedUntil = now() + INVITED_MS
      const invited = await change(id, (one) => {
        if (isOfOrganisation(one, issuer)) throw hasNoPassword()
        return { ...one, invitedUntil }
      })
      return { member: invited, link: links.of(invited, invitedUntil) }
    },
  }
}

function found({ members }: MemberTable, id: string): Member {
  const member = members.find((one) => one.id === id)
  if (!member) throw noSuchMember(id)
  return member
}
