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
  or: 'or with a password',
}

/** Why a sign-in with the organisation was refused, by the reason in the address of the page. */
export const REFUSED: Readonly<Record<string, string>> = {
  unavailable:
    'The sign-in service of your organisation does not respond. Try again later, or use a password.',
  denied: 'The sign-in was canceled, or your organisation has refused it.',
  expired: 'This sign-in has expired, or was begun in another browser or at another address. Try again.',
  invalid:
    'The response of your organisation could not be verified. Try again. If it happens again, inform the operator.',
  role: 'Your account has no role in this console. Ask the administrator of your organisation for access.',
  email: 'Your organisation has stated no valid email address for your account.',
  domain: 'Your email address is not verified, or its domain is not allowed here.',
  taken:
    'Another member has your email address. Sign in with a password, or ask an owner to remove that member.',
  'last-owner':
    'Your email address is of the last owner with a password or a passkey. Sign in with one of these.',
  unverified: 'Your organisation has not stated that your email address is verified. Inform the operator.',
  full: 'This installation has too many members for further ones. Ask an owner to remove one.',
  busy: 'Too many attempts. Try again in a few minutes.',
  failed: 'The sign-in has failed. Try again in a moment.',
}
