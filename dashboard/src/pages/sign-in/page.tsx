import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { sessionQuery } from '../../api/session.ts'
import { NarrowPage } from '../../layout/sign-in/narrow-page.tsx'
import { SignInForm } from '../../layout/sign-in/sign-in-form.tsx'
import { REFUSED, SIGN_IN } from '../../texts/session/sign-in.ts'
import { Notice } from '../../ui/states.tsx'

/** Email address and password. It then shows the page that needed the sign-in. */
export function SignInPage() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const router = useRouter()
  const { from, refused } = useSearch({ from: '/sign-in' })
  return (
    <NarrowPage
      title={SIGN_IN.title}
      subtitle={SIGN_IN.subtitle}
      footer={
        <>
          {SIGN_IN.forgotten} <code className="whitespace-nowrap font-mono text-ink">{SIGN_IN.command}</code>.
        </>
      }
    >
      {refused && (
        <div className="mb-4">
          <Notice tone="danger">{Object.hasOwn(REFUSED, refused) ? REFUSED[refused] : REFUSED.failed}</Notice>
        </div>
      )}
      <SignInForm
        from={from}
        onSignedIn={(session) => {
          queryClient.setQueryData(sessionQuery.queryKey, session)
          // Only a path of the console: a link must not lead to another site.
          if (from?.startsWith('/') && !from.startsWith('//')) router.history.replace(router.basepath + from)
          else void navigate({ to: '/', replace: true })
        }}
      />
    </NarrowPage>
  )
}
