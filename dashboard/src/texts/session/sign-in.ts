/** Texts of the sign-in page, and of the dialog for expired sessions. */
export const SIGN_IN = {
  title: 'Sign in',
  subtitle: 'Manage files, clients and this installation.',
  email: 'Email',
  password: 'Password',
  submit: 'Sign in',
  withoutEmail: 'Use the operator password',
  withoutEmailHint: 'The value of ADMIN_PASSWORD.',
  withEmail: 'Sign in with an email address',
  operatorPassword: 'Operator password',
  emailMissing: 'Enter your email address.',
  passwordMissing: 'Enter your password.',
  wrong: 'The email address or the password is wrong.',
  wrongOperator: 'The password is wrong.',
  tooMany: (seconds: number | undefined) =>
    seconds === undefined
      ? 'Too many attempts. Try again later.'
      : `Too many attempts. Try again in ${seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`}.`,
  forgotten:
    'First visit, or forgot the password? An owner can create a link for you on the page Members. The operator can run',
  command: 'npx sluice sign-in-link',
}
