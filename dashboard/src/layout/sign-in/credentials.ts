import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../../../client/generated/limits.ts'
import { WELCOME } from '../../texts/session/welcome.ts'

/** What is wrong with an email address. The service checks it again. */
export function emailError(email: string): string | undefined {
  return /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? undefined : WELCOME.emailInvalid
}

/** What is wrong with a new password, and with its repetition if it was entered twice. */
export function passwordError(password: string, repeated = password): string | undefined {
  const { length } = [...password]
  if (length < PASSWORD_MIN_LENGTH) return WELCOME.passwordShort(PASSWORD_MIN_LENGTH)
  if (length > PASSWORD_MAX_LENGTH) return WELCOME.passwordLong(PASSWORD_MAX_LENGTH)
  return password === repeated ? undefined : WELCOME.different
}
