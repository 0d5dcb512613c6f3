import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { installation } from '../../api/clients.ts'
import { organisationSignOutUrl } from '../../api/organisation.ts'
import { sessionQuery } from '../../api/session.ts'
import { signedOut } from '../../api/sign-in-gate.ts'

/** Ends the session and shows the page for the sign-in. `everywhere`: on all devices. */
export function useSignOut(): (options?: { everywhere?: boolean }) => Promise<void> {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return async (options = {}) => {
    // Without a connection or with an expired session, the page is left all the same.
    if (options.everywhere) await installation.sessions.signOut(options)
    else await installation.sessions.signOut().catch(() => undefined)
    const session = queryClient.getQueryData(sessionQuery.queryKey)
    signedOut()
    // Otherwise, the next click would sign the same person in again.
    if (session?.member.organisation) return window.location.assign(organisationSignOutUrl)
    await navigate({ to: '/sign-in' })
    // What one member has loaded must not be shown to the next.
    queryClient.clear()
  }
}
