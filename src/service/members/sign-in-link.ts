import { z } from 'zod'
import type { Commands } from '../../core/command.ts'
import { foldedEmail, isActiveOwner, isOfOrganisation, type Member } from '../../core/members/member.ts'
import type { AuditLog } from '../../core/ports/audit-log.ts'
import type { MemberStore } from '../../core/ports/members/member-store.ts'
import { badParameter } from '../../core/problem.ts'
import { listed } from '../../core/text/listed.ts'
import { command } from '../admin/commands.ts'
import { type IssuedLink, isSetUp, type MemberLinks } from './links.ts'
import { hasNoPassword, noSuchMember } from './member-problems.ts'

/** A link as the operator gets it on the command line. */
export interface SignInLink {
  /** The whole URL. */
  link: string
  /** ISO 8601. */
  expiresAt: string
  /** The email address of the member; absent for a link that creates the first owner. */
  email?: string
}

// The link is used at once, and may be in the scrollback of a terminal.
const VALID_MS = 15 * 60_000

/** The URL of a link. Its token is in the fragment, which browsers do not send: it is in no log. */
export function linkUrl({ token }: IssuedLink, baseUrl: string): string {
  return `${baseUrl}/dashboard/welcome#${token}`
}

/** Links for the operator, who has access to the machine: for the first visit, and for a forgotten password. */
export interface SignInLinks {
  /** A link that creates the first owner; undefined when there is a member who can sign in. */
  firstVisit(): string | undefined
  commands: Commands
}

export function createSignInLinks({
  store,
  links,
  audit,
  baseUrl,
  issuer,
  now = Date.now,
}: {
  store: MemberStore
  links: MemberLinks
  audit: AuditLog
  baseUrl: string
  /** The identity provider; undefined without one. */
  issuer?: string | undefined
  now?: () => number
}): SignInLinks {
  /** @throws Problem 400 when it is not clear for which member the link is, 404, 409 for a member of the identity provider */
  async function issue(email: string | undefined): Promise<SignInLink> {
    await store.refresh()
    const table = store.table()
    const member = email === undefined ? onlyOwner(table.members) : withEmail(table.members, email)
    if (member && isOfOrganisation(member, issuer)) throw hasNoPassword()
    const issued = member ? links.of(member, now() + VALID_MS) : links.setup(table, now() + VALID_MS)
    audit.add({
      member: null,
      address: 'command line',
      action: 'member.link',
      ...(member ? { target: member.id } : {}),
    })
    const result = { link: linkUrl(issued, baseUrl), expiresAt: new Date(issued.expiresAt).toISOString() }
    return member ? { ...result, email: member.email } : result
  }

  return {
    firstVisit() {
      const table = store.table()
      return isSetUp(table) ? undefined : linkUrl(links.setup(table, now() + VALID_MS), baseUrl)
    },
    commands: {
      'sign-in-link': command(z.strictObject({ email: z.string().optional() }), ({ email }) => issue(email)),
    },
  }
}

/** The owner who can sign in, if it is the only one; undefined when there is none. @throws Problem 400 when there are several */
function onlyOwner(members: readonly Member[]): Member | undefined {
  const owners = members.filter(isActiveOwner)
  if (owners.length <= 1) return owners[0]
  const emails = listed(owners.map(({ email }) => email))
  throw badParameter({ param: 'email', expected: `one of ${emails}`, received: undefined })
}

/** @throws Problem 404 */
function withEmail(members: readonly Member[], email: string): Member {
  const member = members.find((one) => one.email === foldedEmail(email))
  if (member) return member
  throw noSuchMember(email)
}
