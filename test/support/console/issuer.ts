import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type Provider from 'oidc-provider'

/** A person at the issuer. */
export interface Person {
  email?: string
  /** Default: whether there is an address. */
  email_verified?: boolean
  name?: string
  groups?: unknown
}

/** A real issuer of OpenID Connect, at which people enter a login and any password. */
export interface Issuer {
  url: string
  /** By login, which is also the subject. */
  people: Record<string, Person>
  /** The settings of a service that uses it. */
  env: Record<string, string>
  stop(): Promise<void>
}

export const CLIENT = { id: 'sluice-console', secret: 'a-secret-of-the-console' }
export const ROLES = 'sluice-admins=owner, designers=editor, guests=viewer'

/** The page that asks whether to sign out. */
function logoutSource(ctx: { body: unknown }, form: string): void {
  ctx.body = `${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`
}

/** Runs without the library's warnings about tests. */
async function quietly<T>(work: () => T | Promise<T>): Promise<T> {
  const { warn, info } = console
  Object.assign(console, { warn: () => {}, info: () => {} })
  try {
    return await work()
  } finally {
    Object.assign(console, { warn, info })
  }
}

/** Starts an issuer on this machine. `serve` names the service, which begins after its issuer. */
export async function startIssuer(): Promise<Issuer & { serve(serviceUrl: string): Promise<void> }> {
  const { default: Library } = await quietly(() => import('oidc-provider'))
  const people: Record<string, Person> = {}
  let handle: ReturnType<Provider['callback']> = (_, res) => void res.writeHead(503).end()
  const server = createServer((req, res) => handle(req, res))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const create = (serviceUrl: string) =>
    new Library(url, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [`${serviceUrl}/v1/session/oidc/callback`],
          post_logout_redirect_uris: [`${serviceUrl}/dashboard/sign-in`],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      // The library would print a notice about its own page.
      features: { rpInitiatedLogout: { logoutSource } },
      pkce: { required: () => true },
      cookies: { keys: ['a key of the test'] },
      ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
      findAccount: (_: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ sub, email_verified: people[sub]?.email !== undefined, ...people[sub] }),
      }),
      // Nobody is asked whether the console may know who they are.
      async loadExistingGrant(ctx: {
        oidc: {
          client: { clientId: string }
          session: { accountId: string }
          provider: Provider
        }
      }) {
        const { client, session, provider } = ctx.oidc
        const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
        grant.addOIDCScope('openid email profile')
        await grant.save()
        return grant
      },
    })
  // Known before any service: its discovery document does not depend on the clients.
  const serve = async (serviceUrl: string) => {
    handle = (await quietly(() => create(serviceUrl))).callback()
  }
  await serve('http://127.0.0.1:1')
  return {
    url,
    people,
    env: {
      OIDC_ISSUER: url,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      OIDC_ROLES: ROLES,
    },
    serve,
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
