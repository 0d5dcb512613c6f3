/** Texts of the page for the first visit, invitations and new passwords. */
export const WELCOME = {
  setup: {
    title: 'Set up your account',
    text: 'You are the first member of this installation, and its owner.',
    submit: 'Create account',
  },
  invitation: {
    title: 'Accept your invitation',
    text: 'Choose a password to finish your account.',
    submit: 'Join',
  },
  reset: {
    title: 'Choose a new password',
    text: 'All other sessions of your account end, and its passkeys are removed.',
    submit: 'Set password',
  },
  loading: 'Checking the link',
  email: 'Email',
  name: 'Name',
  password: 'Password',
  passwordHint: (min: number) => `At least ${min} characters. Several words are easy to remember.`,
  repeat: 'Repeat the password',
  emailInvalid: 'Enter an email address, for example ada@example.com.',
  nameMissing: 'Enter your name. Other members see it.',
  passwordShort: (min: number) => `The password needs at least ${min} characters.`,
  passwordLong: (max: number) => `The password may have at most ${max} characters.`,
  different: 'The two passwords are different.',
  noLinkTitle: 'This link is incomplete',
  noLink: 'Open the whole link that you have received, or paste it into the address bar again.',
  expiredTitle: 'This link has expired',
  expired:
    'A link works once and for a limited time. Request a new one from an owner, or create one on the server:',
  command: 'npx sluice sign-in-link',
  toSignIn: 'Go to sign-in',
  welcome: (name: string) => `Welcome, ${name}`,
}
