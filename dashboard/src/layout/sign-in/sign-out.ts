import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { sluice } from '../../api/clients.ts'
import { signedOut } from '../../api/sign-in-gate.ts'

/** Ends the session and shows the page for the sign-in. `everywhere`: on all devices. */
export function useSignOut(): (options?: { everywhere?: boolean }) => Promise<void> {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return async (options = {}) => {
    // Without a connection or with an expired session, the page is left all the same.
    if (options.everywhere) await sluice.sessions.signOut(options)
    else await sluice.sessions.signOut().catch(() => undefined)
    signedOut()
    await navigate({ to: '/sign-in' })
    // What one member has loaded must not be shown to the next.
    queryClient.clear()
  }
}
