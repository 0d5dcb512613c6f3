import { type Session, SluiceError } from '../../../client/index.ts'
import { PASSKEYS } from '../texts/session/passkeys.ts'
import { installation } from './clients.ts'

/** Whether this browser can use passkeys on this page: not at an IP address, which no passkey can be for. */
export const hasPasskeys: boolean =
  typeof PublicKeyCredential === 'function' &&
  'parseRequestOptionsFromJSON' in PublicKeyCredential &&
  !/^[\d.]+$|:/.test(window.location.hostname)

/**
 * Lets the person create a passkey on this device, and adds it to the account.
 *
 * @throws SluiceError, among them `sign_in_again`; Error with a text for people
 */
export async function addPasskey(name: string): Promise<void> {
  const needed = await installation.sessions.passkeys.begin()
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(needed)
  const created = await asked(() => navigator.credentials.create({ publicKey }), needed.rp.id)
  const { id, response } = created.toJSON() as RegistrationResponseJSON
  const { clientDataJSON, attestationObject } = response
  await installation.sessions.passkeys.add({ name, id, clientDataJSON, attestationObject })
}

/** Signs in the person with a passkey of their choice. @throws SluiceError; Error with a text for people */
export async function signInWithPasskey(): Promise<Session> {
  const needed = await installation.sessions.passkeys.beginSignIn()
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(needed)
  const used = await asked(() => navigator.credentials.get({ publicKey }), needed.rpId)
  const { id, response } = used.toJSON() as AuthenticationResponseJSON
  const { clientDataJSON, authenticatorData, signature, userHandle = '' } = response
  return installation.sessions.passkeys.signIn({
    ...{ id, clientDataJSON, authenticatorData, signature, userHandle },
  })
}

/** What to show for an error of these two. */
export function passkeyMessage(error: unknown): string {
  if (!(error instanceof SluiceError)) return error instanceof Error ? error.message : String(error)
  return PASSKEYS.refused[error.code] ?? error.message
}

/** @param host for which the passkey is. @throws Error with a text for people */
async function asked(ask: () => Promise<Credential | null>, host: string): Promise<PublicKeyCredential> {
  try {
    const answer = await ask()
    if (answer instanceof PublicKeyCredential) return answer
    throw new Error(PASSKEYS.canceled)
  } catch (error) {
    throw new Error(messageOf(error, host), { cause: error })
  }
}

function messageOf(error: unknown, host: string): string {
  const { name = '', message = '' } = error instanceof Error ? error : {}
  if (name === 'SecurityError') return PASSKEYS.otherHost(host)
  if (name === 'InvalidStateError') return PASSKEYS.exists
  // Browsers do not reveal whether the person has canceled, or has no passkey here.
  if (name === 'NotAllowedError' || name === 'AbortError') return PASSKEYS.canceled
  if (name === 'NotSupportedError' || name === 'ConstraintError') return PASSKEYS.notSupported
  return message
}
