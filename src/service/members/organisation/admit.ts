import { newClientId } from '../../../core/clients/client.ts'
import {
  hasCredential,
  isActiveOwner,
  type Member,
  type MemberTable,
  NO_SESSIONS,
  type Role,
  type VisibleClients,
} from '../../../core/members/member.ts'
import { JOINED_MAX } from '../members.ts'
import type { Person } from './people.ts'
import { SignInRefused } from './refusals.ts'

/** `joined`: a new member; `linked`: a member who was invited, or had a password or passkeys; `changed`: another role or address. */
export type Admission = 'joined' | 'linked' | 'changed' | 'unchanged'

export interface Admitted {
  member: Member
  admission: Admission
}

/** A person with a role. */
export type PersonWithRole = Person & { role: Role }

/**
 * The table with the person as a member; the same table when nothing changes. The person is recognized by the identity alone. An email
 * address is only used to find the member of an invitation, or with a password or passkeys, and only when the provider has verified it: otherwise
 * any account at the provider could take over a member. Such a member gets the identity, and loses password and passkeys, so that the
 * organisation decides about the access from then on. The last owner with a password never becomes such a member: with it, the console
 * can be used when the provider is down, or refuses all, and an account at the provider must not be enough for it.
 *
 * @param newClients the clients that a new member sees
 * @param isUnverifiedAllowed whether a person becomes a new member with an address that the provider has not verified
 * @throws SignInRefused `taken`, `last-owner`, `unverified`, `full`
 */
export function admit(
  table: MemberTable,
  person: PersonWithRole,
  {
    newClients,
    isUnverifiedAllowed,
    now,
  }: { newClients: VisibleClients; isUnverifiedAllowed: boolean; now: number },
): { table: MemberTable; result: Admitted } {
  const { members } = table
  const { identity, email, isEmailVerified } = person
  const known = members.find((one) => isSame(one, person))
  const namesake = members.find((one) => one.email === email)
  if (!known && namesake) {
    // The subject of another person: the address was given to someone else, or the account was created again.
    if (namesake.identity?.issuer === identity.issuer || !isEmailVerified)
      throw new SignInRefused('taken', { person: { name: email } })
    return replaced(table, present(namesake, person, { members, newClients }), 'linked')
  }
  if (known) {
    const mayTakeAddress = isEmailVerified && !namesake
    const own = {
      ...present(known, person, { members, newClients }),
      email: mayTakeAddress ? email : known.email,
    }
    const isChanged = own.role !== known.role || own.email !== known.email || hasCredential(known)
    if (!isChanged) return { table, result: { member: known, admission: 'unchanged' } }
    return replaced(table, own, 'changed')
  }
  // Otherwise, a person could join under the address of another one.
  if (!isEmailVerified && !isUnverifiedAllowed)
    throw new SignInRefused('unverified', { person: { name: email } })
  if (members.length >= JOINED_MAX) throw new SignInRefused('full', { person: { name: email } })
  const joined: Member = {
    id: newClientId(),
    email,
    name: person.name,
    role: person.role,
    clients: person.role === 'owner' ? 'all' : newClients,
    createdAt: now,
    identity,
    sessions: NO_SESSIONS,
  }
  return {
    table: { ...table, members: [...members, joined] },
    result: { member: joined, admission: 'joined' },
  }
}

/** Whether a member is this person. */
export function isSame(
  { identity }: Member,
  { identity: { issuer, subject } }: Pick<Person, 'identity'>,
): boolean {
  return identity?.issuer === issuer && identity.subject === subject
}

/** The member as the provider describes the person now. @throws SignInRefused `last-owner` */
function present(
  member: Member,
  { identity, role }: PersonWithRole,
  { members, newClients }: { members: readonly Member[]; newClients: VisibleClients },
): Member {
  const others = members.filter(({ id }) => id !== member.id)
  if (isActiveOwner(member) && !others.some(isActiveOwner)) {
    const { id, name } = member
    throw new SignInRefused('last-owner', { person: { id, name } })
  }
  const { password: _, passkeys: __, invitedUntil: ___, ...rest } = member
  const seen = member.role === 'owner' ? newClients : member.clients
  return { ...rest, identity, role, clients: role === 'owner' ? 'all' : seen }
}

function replaced(
  table: MemberTable,
  member: Member,
  admission: Admission,
): { table: MemberTable; result: Admitted } {
  const members = table.members.map((one) => (one.id === member.id ? member : one))
  return { table: { ...table, members }, result: { member, admission } }
}
