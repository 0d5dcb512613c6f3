import { z } from 'zod'
import { UNSEEN_CHARACTER } from '../../core/files/relative-path.ts'
import { EMAIL, EMAIL_MAX_LENGTH, NAME_MAX_LENGTH, ROLES } from '../../core/members/member.ts'
import type { ProblemName } from '../documents/endpoint.ts'

// Members of request bodies and responses that concern people.

const PASSWORD_MIN_LENGTH = 10
const PASSWORD_MAX_LENGTH = 256

const emailText = `an email address of at most ${EMAIL_MAX_LENGTH} characters`
export const newEmail = z
  .string(emailText)
  .trim()
  .max(EMAIL_MAX_LENGTH, emailText)
  .regex(EMAIL, emailText)
  .refine((text) => !UNSEEN_CHARACTER.test(text), emailText)
  .describe('Email address. It is only a name to sign in with: no email is sent.')

const nameText = `1 to ${NAME_MAX_LENGTH} characters without control characters`
export const newName = z
  .string(nameText)
  .trim()
  .min(1, nameText)
  .max(NAME_MAX_LENGTH, nameText)
  .refine((text) => !UNSEEN_CHARACTER.test(text), nameText)
  .describe('Name for people.')

const passwordText = `${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters`
export const newPassword = z
  .string(passwordText)
  .min(PASSWORD_MIN_LENGTH, passwordText)
  .max(PASSWORD_MAX_LENGTH, passwordText)
  .describe(`A new password: ${passwordText}.`)

// No minimum: a shorter password is wrong, and ADMIN_PASSWORD has its own.
const tried = `a string of at most ${PASSWORD_MAX_LENGTH} characters`
export const password = z.string(tried).max(PASSWORD_MAX_LENGTH, tried)

export const role = z
  .enum(ROLES)
  .describe('`viewer` reads, `editor` also changes files, `owner` manages everything.')
export const email = z.string().describe('Email address to sign in with.')
export const name = z.string().describe('Name for people.')

/** The problems of a sign-in. */
export const SIGN_IN: readonly ProblemName[] = [
  '401 wrong_password',
  '403 cross_site',
  '403 sign_in_off',
  '429 rate_limited',
]
