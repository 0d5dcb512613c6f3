import { z } from 'zod'
import { UNSEEN_CHARACTER } from '../../core/files/relative-path.ts'
import { ROLES } from '../../core/members/member.ts'
import { badParameter } from '../../core/problem.ts'
import type { Invitation, MemberChanges } from '../../service/members/members.ts'
import type { LinkChoice, OwnChanges } from '../../service/members/sign-in.ts'
import { checkedBody } from '../body/parse.ts'

const EMAIL_MAX_LENGTH = 254
const EMAIL = /^[^\s@]+@[^\s@]+$/
const NAME_MAX_LENGTH = 100
const PASSWORD_LENGTH = { min: 10, max: 256 }
const LINK_MAX_LENGTH = 1000
// As many as an installation may reasonably list one by one; beyond that, a member sees all.
const CLIENTS_MAX = 200

const emailText = 'an email address of at most 254 characters'
const email = z
  .string(emailText)
  .trim()
  .max(EMAIL_MAX_LENGTH, emailText)
  .regex(EMAIL, emailText)
  .refine((text) => !UNSEEN_CHARACTER.test(text), emailText)
  .describe('Email address. It is only a name to sign in with: no email is sent.')

const nameText = '1 to 100 characters without control characters'
const name = z
  .string(nameText)
  .trim()
  .min(1, nameText)
  .max(NAME_MAX_LENGTH, nameText)
  .refine((text) => !UNSEEN_CHARACTER.test(text), nameText)
  .describe('Name for people.')

const passwordText = '10 to 256 characters'
const newPassword = z
  .string(passwordText)
  .min(PASSWORD_LENGTH.min, passwordText)
  .max(PASSWORD_LENGTH.max, passwordText)
  .describe('A new password: 10 to 256 characters.')

// No minimum: a shorter password is wrong, and ADMIN_PASSWORD has its own.
const tried = 'a string of at most 256 characters'
const password = z.string(tried).max(PASSWORD_LENGTH.max, tried)

const link = z
  .string('a string')
  .max(LINK_MAX_LENGTH, 'the token of a link')
  .describe('The part of the URL of the link after `#`.')

const role = z.enum(ROLES, 'viewer, editor or owner').describe('What the member may do.')
const clientIds = z
  .union([z.literal('all'), z.array(z.string()).max(CLIENTS_MAX)], '"all", or at most 200 IDs of clients')
  .describe('The clients that the member may see. An owner sees all.')

/** Sign-in to the console. */
export const newSession = z.strictObject(
  {
    email: email
      .describe('Email address of the member. Absent: the operator, with ADMIN_PASSWORD.')
      .optional(),
    password: password.describe('Password.'),
  },
  'an object of email and password',
)

/** A change of the signed-in member. */
export const sessionChange = z.strictObject(
  {
    name: name.optional(),
    currentPassword: password.describe('Required for a new password.').optional(),
    newPassword: newPassword.optional(),
  },
  'an object of name, currentPassword and newPassword',
)

/** A link to read. */
export const linkToken = z.strictObject({ link }, 'an object of link')

/** The use of a link. */
export const linkUse = z.strictObject(
  {
    link,
    email: email.describe('Email address of the first owner. Ignored for other links.').optional(),
    name: name.optional(),
    password: newPassword,
  },
  'an object of link, email, name and password',
)

/** A new member. */
export const newMember = z.strictObject(
  { email, name: name.optional(), role, clients: clientIds.default('all') },
  'an object of email, name, role and clients',
)

/** A change of a member. */
export const memberChange = z.strictObject(
  { name: name.optional(), role: role.optional(), clients: clientIds.optional() },
  'an object of name, role and clients',
)

/** @throws Problem 400, which never contains the password */
export function readNewSession(body: unknown): z.output<typeof newSession> {
  return checkedBody(newSession, body, { secret: ['password'] })
}

/** @throws Problem 400, which never contains a password */
export function readSessionChange(body: unknown): OwnChanges {
  const change = checkedBody(sessionChange, body, { secret: ['currentPassword', 'newPassword'] })
  const { currentPassword: current, newPassword: next } = change
  if (next !== undefined && current === undefined)
    throw badParameter({ param: 'currentPassword', expected: 'the current password', received: undefined })
  if (next === undefined && change.name === undefined)
    throw badParameter({ param: 'the body', expected: 'a name or a newPassword', received: 'neither' })
  return { name: change.name, newPassword: next === undefined ? undefined : { current: current ?? '', next } }
}

/** @throws Problem 400, which never contains the link */
export function readLinkToken(body: unknown): string {
  return checkedBody(linkToken, body, { secret: ['link'] }).link
}

/** @throws Problem 400, which contains neither the link nor the password */
export function readLinkUse(body: unknown): LinkChoice & { link: string } {
  return checkedBody(linkUse, body, { secret: ['link', 'password'] })
}

/** @throws Problem 400 */
export function readNewMember(body: unknown): Invitation {
  return checkedBody(newMember, body)
}

/** @throws Problem 400 */
export function readMemberChange(body: unknown): MemberChanges {
  const { name, role, clients } = checkedBody(memberChange, body)
  if (name === undefined && role === undefined && clients === undefined)
    throw badParameter({ param: 'the body', expected: 'a name, a role or clients', received: body })
  return {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(clients === undefined ? {} : { clients }),
  }
}
