import { SluiceError } from './problem.ts'

/** The session of a signed-in member, for pages that the service itself serves. Its cookie is not readable by scripts. */
export interface SessionAccess {
  /** The client for which the calls act. */
  clientId?: string | undefined
  /**
   * Receives each call that fails because there is no session, or because it has expired. The call is sent again when the
   * promise resolves, and fails when it rejects. Default: calls fail at once.
   */
  onSignedOut?: ((signal: AbortSignal | undefined) => Promise<void>) | undefined
}

/** The headers that make the service use the cookie. Pages of other origins cannot send them. */
export function sessionHeaders({ clientId }: SessionAccess): Record<string, string> {
  const headers: Record<string, string> = { 'Sluice-Console': '1' }
  if (clientId !== undefined) headers['Sluice-Client'] = clientId
  return headers
}

/** Repeats a call after each sign-in. @throws the error of the call, or of `onSignedOut` */
export async function withSession<T>(
  { onSignedOut }: SessionAccess,
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!onSignedOut || !isSignedOut(error)) throw error
      await onSignedOut(signal)
      signal?.throwIfAborted()
    }
  }
}

// A wrong password is a 401 too, and says nothing about the session.
function isSignedOut(error: unknown): boolean {
  return error instanceof SluiceError && error.status === 401 && error.code !== 'wrong_password'
}
