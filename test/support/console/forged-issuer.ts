import { createSign, generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CLIENT, ROLES } from './issuer.ts'

/** An issuer whose documents and tokens a test chooses. */
export interface ForgedIssuer {
  url: string
  env: Record<string, string>
  /** Its key, and one that it does not publish. */
  key: KeyObject
  otherKey: KeyObject
  /** Over its own members of the discovery document. */
  document: Record<string, unknown>
  /** The ID token for the next code; by default the claims of {@link goodClaims}, signed. */
  idToken: (nonce: string) => string
  /** What it received as body of each request for a token. */
  received: string[]
  /** Answers a request in place of the issuer, unless it returns false. */
  instead: (req: IncomingMessage, res: ServerResponse) => boolean
  claims(nonce: string): Record<string, unknown>
  stop(): Promise<void>
}

// They take CPU time, so all issuers have the same.
let pairs: KeyPairKeyObjectResult[] | undefined

export async function forgeIssuer(): Promise<ForgedIssuer> {
  pairs ??= [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }))
  const [{ privateKey: key, publicKey }, other] = pairs as [KeyPairKeyObjectResult, KeyPairKeyObjectResult]
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }
  const server = createServer((req, res) => void answer(req, res))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (own.instead(req, res)) return
    const json = (body: unknown) =>
      void res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    if (req.url === '/.well-known/openid-configuration')
      return json({
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        code_challenge_methods_supported: ['S256'],
        ...own.document,
      })
    if (req.url === '/keys') return json({ keys: [jwk] })
    let body = ''
    for await (const part of req) body += part
    own.received.push(body)
    // The code of a test is the nonce.
    const nonce = new URLSearchParams(body).get('code') ?? ''
    json({ access_token: 'an-access-token', token_type: 'Bearer', id_token: own.idToken(nonce) })
  }

  const own: ForgedIssuer = {
    url,
    env: {
      OIDC_ISSUER: url,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      OIDC_ROLES: ROLES,
    },
    key,
    otherKey: other.privateKey,
    document: {},
    idToken: (nonce) => signed(own.claims(nonce), key),
    received: [],
    instead: () => false,
    claims(nonce) {
      const now = Math.floor(Date.now() / 1000)
      return {
        iss: url,
        sub: 'eve',
        aud: CLIENT.id,
        iat: now,
        exp: now + 300,
        nonce,
        email: 'eve@example.com',
        email_verified: true,
        name: 'Eve',
        groups: ['designers'],
      }
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  return own
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A JWT with RS256. */
export function signed(claims: object, key: KeyObject): string {
  const content = `${part({ alg: 'RS256', kid: 'one' })}.${part(claims)}`
  return `${content}.${createSign('RSA-SHA256').update(content).sign(key).toString('base64url')}`
}

/** A JWT without a signature. */
export function unsigned(claims: object): string {
  return `${part({ alg: 'none' })}.${part(claims)}.`
}
