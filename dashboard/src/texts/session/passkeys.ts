/** Texts of passkeys: on the account page, and at the sign-in. */
export const PASSKEYS = {
  signIn: 'Sign in with a passkey',
  canceled: 'This was canceled, or this device has no passkey for it. Try again.',
  otherHost: (host: string) => `Passkeys work only at ${host}. Open the console there.`,
  exists: 'This device or password manager has a passkey for your account already.',
  notSupported: 'This device cannot create a passkey. It needs a PIN, a fingerprint or a face to unlock it.',
  /** By the code of the error. */
  refused: {
    unknown_passkey:
      'This passkey is not known here. It may have been removed. Use another one, or a password.',
    passkey_unverified:
      'The device has not verified you. Use a passkey with a PIN, a fingerprint or your face.',
    wrong_passkey: 'The passkey could not be verified. Try again.',
    challenge_expired: 'This took too long, or was begun in another tab. Try again.',
    wrong_password: 'The current password is wrong.',
  } as Readonly<Record<string, string>>,

  title: 'Passkeys',
  text: 'Sign in with a fingerprint, your face or a PIN. A passkey is on your device or in your password manager, and cannot be guessed.',
  none: 'You have no passkeys.',
  unavailable: 'This browser cannot use passkeys at this address: they need https and a host name.',
  added: (time: string) => `Added ${time}`,
  used: (ago: string) => `Last used ${ago}`,
  unused: 'Not used yet',
  otherAddress: (origin: string) => `Only at ${origin}`,
  add: 'Add a passkey',
  addText: 'Your browser asks where to store it.',
  name: 'Name',
  nameHint: 'So that you recognize it in the list.',
  nameMissing: 'Enter a name.',
  confirmText: 'You have signed in some time ago. Enter your current password.',
  confirmPassword: 'Current password',
  confirmPasskey: 'You have signed in some time ago. Confirm with a passkey that you have, then try again.',
  confirm: 'Confirm with a passkey',
  confirmed: 'Confirmed. Now try again.',
  done: (name: string) => `The passkey ${name} was added`,
  remove: 'Remove',
  removeOf: (name: string) => `Remove the passkey ${name}`,
  removeTitle: (name: string) => `Remove the passkey ${name}?`,
  removeText:
    'It no longer opens your account, and all your other sessions end. Delete it on the device or in the password manager, too.',
  removed: (name: string) => `The passkey ${name} was removed`,
  lastText: 'Your last passkey cannot be removed while you have no password.',
  deviceName: (system: string | undefined) => system ?? 'This device',

  only: 'Sign in only with passkeys',
  onlyText:
    'Remove the password: a stolen one then opens nothing. If you lose all passkeys, an owner can create a link for you.',
  onlyTitle: 'Remove your password?',
  onlyConfirm:
    'From then on, only your passkeys open your account. All your other sessions end. If you lose all passkeys, an owner can create a link for you.',
  onlyAction: 'Remove password',
  onlyDone: 'Password removed',
  set: 'Set a password',
  setDone: 'Password set',
  setText: 'You sign in only with passkeys. With a password, both open your account.',
}
