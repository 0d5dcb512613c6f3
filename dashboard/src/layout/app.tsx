import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Navigate, Outlet, useRouterState } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense, useEffect, useRef, useState } from 'react'
import { SluiceError } from '../../../client/index.ts'
import { sessionQuery } from '../api/session.ts'
import { useIsSignInNeeded } from '../api/sign-in-gate.ts'
import { Drawer } from '../ui/overlays/dialog.tsx'
import { ErrorState } from '../ui/states.tsx'
import { useLayoutCommands } from './commands/layout-commands.tsx'
import { useShortcuts } from './commands/shortcuts.ts'
import { DropAnywhere } from './drop-anywhere.tsx'
import { LoadingPage } from './plain-pages.tsx'
import { ShellSkeleton } from './shell-skeleton.tsx'
import { Sidebar } from './sidebar.tsx'
import { LAYOUT } from './texts.ts'
import { TopBar } from './top-bar.tsx'
import { hasUnfinished } from './unfinished.ts'
import { useUploadRequest } from './uploads.ts'

const CommandPalette = lazy(async () => ({
  default: (await import('./commands/command-palette.tsx')).CommandPalette,
}))
const ShortcutsHelp = lazy(async () => ({
  default: (await import('./commands/shortcuts-help.tsx')).ShortcutsHelp,
}))
const SignInDialog = lazy(async () => ({
  default: (await import('./sign-in/sign-in-dialog.tsx')).SignInDialog,
}))

/** The frame of all pages with a session. Without a session, it leads to the page for the sign-in. */
export function AppLayout({ UploadPanel }: { UploadPanel: ComponentType }) {
  const { data, error, refetch } = useQuery(sessionQueryOfPage)
  if (data) return <Frame UploadPanel={UploadPanel} />
  if (error instanceof SluiceError && error.status === 401) return <ToSignIn />
  if (error) {
    return (
      <ErrorState
        error={error}
        title={LAYOUT.sessionFailed}
        onRetry={() => void refetch()}
        className="min-h-dvh"
      />
    )
  }
  return <ShellSkeleton />
}

// A session that has expired is noticed by the next call, which opens a dialog over the page.
const sessionQueryOfPage = { ...sessionQuery, refetchOnWindowFocus: false }

/** Leads to the sign-in, which then leads back to this page. */
function ToSignIn() {
  const href = useRouterState({ select: ({ location }) => location.href })
  // The location changes while this is still shown: it must not become the page to lead back to.
  const [from] = useState(href)
  return <Navigate to="/sign-in" search={from === '/' ? {} : { from }} replace />
}

function Frame({ UploadPanel }: { UploadPanel: ComponentType }) {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [opened, setOpened] = useState<'palette' | 'shortcuts'>()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const main = useRef<HTMLElement>(null)
  useShortcuts()
  useLayoutCommands({ openPalette: () => setOpened('palette'), openShortcuts: () => setOpened('shortcuts') })
  const request = useUploadRequest()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawer closes for another page, and for the upload panel
  useEffect(() => setMenuOpen(false), [path, request])
  const close = () => setOpened(undefined)
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <button
        type="button"
        onClick={() => main.current?.focus()}
        className="sr-only z-60 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {LAYOUT.skipToContent}
      </button>
      <aside className="sticky top-0 hidden h-dvh border-line border-r bg-surface md:block">
        <Sidebar openPalette={() => setOpened('palette')} />
      </aside>
      <TopBar openMenu={() => setMenuOpen(true)} openPalette={() => setOpened('palette')} />
      <Drawer
        isOpen={isMenuOpen}
        onClose={() => setMenuOpen(false)}
        title={LAYOUT.navigation}
        side="start"
        isTitleHidden
      >
        <Sidebar openPalette={() => setOpened('palette')} />
      </Drawer>
      <main ref={main} tabIndex={-1} className="min-w-0 focus:outline-none">
        <Suspense fallback={<LoadingPage />}>
          <Outlet />
        </Suspense>
      </main>
      <Suspense>
        {opened === 'palette' && <CommandPalette onClose={close} />}
        {opened === 'shortcuts' && <ShortcutsHelp onClose={close} />}
      </Suspense>
      <ExpiredSession />
      <DropAnywhere />
      <Uploads UploadPanel={UploadPanel} />
    </div>
  )
}

function ExpiredSession() {
  const isNeeded = useIsSignInNeeded()
  const queryClient = useQueryClient()
  return (
    <Suspense>
      {isNeeded && (
        <SignInDialog onSignedIn={(session) => queryClient.setQueryData(sessionQuery.queryKey, session)} />
      )}
    </Suspense>
  )
}

/** Loads the upload panel with the first upload, or with one of an earlier page. It remains, so that uploads continue on all pages. */
function Uploads({ UploadPanel }: { UploadPanel: ComponentType }) {
  const request = useUploadRequest()
  const [isUsed, setUsed] = useState(hasUnfinished)
  if (request && !isUsed) setUsed(true)
  return <Suspense>{isUsed && <UploadPanel />}</Suspense>
}
