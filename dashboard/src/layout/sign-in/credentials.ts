import { WELCOME } from '../../texts/session/welcome.ts'

/** Characters of a new password. */
export const PASSWORD_MIN = 10
const PASSWORD_MAX = 256

/** What is wrong with an email address. The service checks it again. */
export function emailError(email: string): string | undefined {
  return /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? undefined : WELCOME.emailInvalid
}

/** What is wrong with a new password, and with its repetition if it was entered twice. */
export function passwordError(password: string, repeated = password): string | undefined {
  const { length } = [...password]
  if (length < PASSWORD_MIN) return WELCOME.passwordShort(PASSWORD_MIN)
  if (length > PASSWORD_MAX) return WELCOME.passwordLong(PASSWORD_MAX)
  return password === repeated ? undefined : WELCOME.different
}
