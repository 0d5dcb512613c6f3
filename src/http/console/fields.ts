import { z } from 'zod'
import { UNSEEN_CHARACTER } from '../../core/files/relative-path.ts'
import { ROLES } from '../../core/members/member.ts'
import type { ProblemName } from '../documents/endpoint.ts'

// Members of request bodies and responses that concern people.

const EMAIL_MAX_LENGTH = 254
const EMAIL = /^[^\s@]+@[^\s@]+$/
const NAME_MAX_LENGTH = 100
const PASSWORD_LENGTH = { min: 10, max: 256 }

const emailText = 'an email address of at most 254 characters'
export const newEmail = z
  .string(emailText)
  .trim()
  .max(EMAIL_MAX_LENGTH, emailText)
  .regex(EMAIL, emailText)
  .refine((text) => !UNSEEN_CHARACTER.test(text), emailText)
  .describe('Email address. It is only a name to sign in with: no email is sent.')

const nameText = '1 to 100 characters without control characters'
export const newName = z
  .string(nameText)
  .trim()
  .min(1, nameText)
  .max(NAME_MAX_LENGTH, nameText)
  .refine((text) => !UNSEEN_CHARACTER.test(text), nameText)
  .describe('Name for people.')

const passwordText = '10 to 256 characters'
export const newPassword = z
  .string(passwordText)
  .min(PASSWORD_LENGTH.min, passwordText)
  .max(PASSWORD_LENGTH.max, passwordText)
  .describe('A new password: 10 to 256 characters.')

// No minimum: a shorter password is wrong, and ADMIN_PASSWORD has its own.
const tried = 'a string of at most 256 characters'
export const password = z.string(tried).max(PASSWORD_LENGTH.max, tried)

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
