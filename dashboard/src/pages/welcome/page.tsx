import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useRouterState } from '@tanstack/react-router'
import { SluiceError } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { sessionQuery } from '../../api/session.ts'
import { NarrowPage } from '../../layout/sign-in/narrow-page.tsx'
import { WELCOME } from '../../texts/session/welcome.ts'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { WelcomeForm } from './form.tsx'

/** `/dashboard/welcome#<link>`: chooses a password, on the first visit, after an invitation, or when it was forgotten. */
export function WelcomePage() {
  // The fragment never reaches the service with the request of the page, so it is in no log.
  const link = useRouterState({ select: ({ location }) => location.hash })
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { data, error, refetch } = useQuery({
    queryKey: ['link', link],
    queryFn: ({ signal }) => installation.sessions.link(link, { signal }),
    enabled: link !== '',
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!link) return <BadLink title={WELCOME.noLinkTitle}>{WELCOME.noLink}</BadLink>
  if (error instanceof SluiceError && error.status >= 400 && error.status < 500 && error.status !== 429) {
    return (
      <BadLink title={WELCOME.expiredTitle}>
        {WELCOME.expired} <code className="whitespace-nowrap font-mono text-ink">{WELCOME.command}</code>
      </BadLink>
    )
  }
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} className="min-h-dvh" />
  if (!data) {
    return (
      <NarrowPage title={WELCOME.loading}>
        <div className="flex flex-col gap-6">
          {['email', 'name', 'password', 'button'].map((part) => (
            <Skeleton key={part} className="h-9" />
          ))}
        </div>
      </NarrowPage>
    )
  }
  const texts = WELCOME[data.purpose]
  return (
    <NarrowPage title={texts.title} subtitle={texts.text}>
      <WelcomeForm
        of={data}
        link={link}
        onSignedIn={(session) => {
          // What a session of another member has loaded.
          queryClient.clear()
          queryClient.setQueryData(sessionQuery.queryKey, session)
          toast.success(WELCOME.welcome(session.member.name))
          void navigate({ to: '/', replace: true })
        }}
      />
    </NarrowPage>
  )
}

function BadLink({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <NarrowPage title={title} subtitle={children}>
      <Button asChild look="primary" size="large" className="w-full">
        <Link to="/sign-in">{WELCOME.toSignIn}</Link>
      </Button>
    </NarrowPage>
  )
}
