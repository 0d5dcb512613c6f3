import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { lazy } from 'react'
import { basePath } from './api/base.ts'
import { AppLayout } from './layout/app.tsx'
import { ClientLayout } from './layout/client.tsx'
import { CrashedPage, HomePage, LoadingPage, NotFoundPage, OwnerLayout } from './layout/plain-pages.tsx'
import { readSearch } from './pages/playground/search.ts'

/** Shown over all pages as soon as the first upload is requested, and then until the tab is closed. */
const UploadPanel = lazy(async () => ({ default: (await import('./pages/upload/panel.tsx')).UploadPanel }))

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage })

const signIn = createRoute({
  getParentRoute: () => root,
  path: 'sign-in',
  validateSearch: ({ from, refused }): { from?: string; refused?: string } => ({
    ...(typeof from === 'string' ? { from } : {}),
    ...(typeof refused === 'string' ? { refused } : {}),
  }),
  component: lazyRouteComponent(() => import('./pages/sign-in/page.tsx'), 'SignInPage'),
})
const welcome = createRoute({
  getParentRoute: () => root,
  path: 'welcome',
  component: lazyRouteComponent(() => import('./pages/welcome/page.tsx'), 'WelcomePage'),
})

// Pages with a session.
const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: () => <AppLayout UploadPanel={UploadPanel} />,
})
const home = createRoute({ getParentRoute: () => app, path: '/', component: HomePage })
const account = createRoute({
  getParentRoute: () => app,
  path: 'account',
  component: lazyRouteComponent(() => import('./pages/account/page.tsx'), 'AccountPage'),
})

// Pages of the installation for all members. They show less to members who are no owners.
const clients = createRoute({
  getParentRoute: () => app,
  path: 'clients',
  component: lazyRouteComponent(() => import('./pages/clients/page.tsx'), 'ClientsPage'),
})
const webhooks = createRoute({
  getParentRoute: () => app,
  path: 'webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/page.tsx'), 'WebhooksPage'),
})

// Pages of one client.
const client = createRoute({ getParentRoute: () => app, path: 'c/$clientId', component: ClientLayout })
const clientHome = createRoute({
  getParentRoute: () => client,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({
      to: '/c/$clientId/files/$',
      params: { clientId: params.clientId, _splat: '' },
      replace: true,
    })
  },
})
const files = createRoute({
  getParentRoute: () => client,
  // The rest of the path is the folder.
  path: 'files/$',
  component: lazyRouteComponent(() => import('./pages/files/page.tsx'), 'FilesPage'),
})
const playground = createRoute({
  getParentRoute: () => client,
  // The rest of the path is the key of the file. Empty: none is chosen.
  path: 'playground/$',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./pages/playground/page.tsx'), 'PlaygroundPage'),
})
const jobs = createRoute({
  getParentRoute: () => client,
  path: 'jobs',
  component: lazyRouteComponent(() => import('./pages/jobs/page.tsx'), 'JobsPage'),
})
const trash = createRoute({
  getParentRoute: () => client,
  path: 'trash',
  component: lazyRouteComponent(() => import('./pages/trash/page.tsx'), 'TrashPage'),
})

// Pages of owners.
const owner = createRoute({ getParentRoute: () => app, id: 'owner', component: OwnerLayout })
const oneClient = createRoute({
  getParentRoute: () => owner,
  path: 'clients/$id',
  component: lazyRouteComponent(() => import('./pages/clients/client-page.tsx'), 'ClientPage'),
})
const usage = createRoute({
  getParentRoute: () => owner,
  path: 'usage',
  component: lazyRouteComponent(() => import('./pages/usage/page.tsx'), 'UsagePage'),
})
const health = createRoute({
  getParentRoute: () => owner,
  path: 'health',
  component: lazyRouteComponent(() => import('./pages/health/page.tsx'), 'HealthPage'),
})
const members = createRoute({
  getParentRoute: () => owner,
  path: 'members',
  component: lazyRouteComponent(() => import('./pages/members/page.tsx'), 'MembersPage'),
})
const audit = createRoute({
  getParentRoute: () => owner,
  path: 'audit',
  component: lazyRouteComponent(() => import('./pages/audit/page.tsx'), 'AuditPage'),
})

/** All pages. Each is loaded when it is opened, or when the pointer is over a link to it. */
export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    welcome,
    app.addChildren([
      home,
      account,
      clients,
      webhooks,
      client.addChildren([clientHome, files, playground, jobs, trash]),
      owner.addChildren([oneClient, usage, health, members, audit]),
    ]),
  ]),
  basepath: basePath,
  defaultPreload: 'intent',
  defaultPendingComponent: LoadingPage,
  defaultErrorComponent: CrashedPage,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
