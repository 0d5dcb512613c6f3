import { type Client, isPaused } from '../../core/clients/client.ts'
import { isSameRoot } from '../../core/clients/client-storage.ts'
import type { Grant } from '../../core/clients/grant.ts'
import { type Action, checkAction } from '../../core/clients/secret-scope.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import { Problem, unavailable } from '../../core/problem.ts'

/** Whose a request is, and what it may do. A client whose files are moving to another bucket is a 503 meanwhile. */
export interface ClientAccess {
  /**
   * What an `Authorization` header, `<secret>` or `Bearer <secret>`, lets its sender do.
   * @throws Problem 401, 403 for a secret that is not for this action
   */
  authenticate(authorization: string | undefined, action: Action): Grant
  /** Whether a text is somebody's secret token. */
  isSecret(text: string): boolean
  /** The client of a delivery URL. @throws Problem 404 */
  ofToken(token: string): Client
  /**
   * Whether it may still store files: it exists, and is not being removed, by what is heard of other processes.
   * @param client as it was when they began to come
   * @throws Problem 503 when its root is another one by now; and when nothing has been heard for too long: this process
   *   may have been frozen
   */
  admits(client: Pick<Client, 'id' | 'storage'>): Promise<boolean>
}

// As SECRET_CLIENT_TOKEN is; those that are made here are longer.
const SECRET_MIN_LENGTH = 16

export function createClientAccess({
  store,
  trustMs,
  now,
}: {
  store: ClientStore
  /** How long what was heard of other processes' changes is good for: no longer than a removal waits for all to hear. */
  trustMs: number
  now: () => number
}): ClientAccess {
  /** @throws Problem 503 while it moves to another bucket */
  function admitted(client: Client): Client {
    if (isPaused(client, now())) throw isMoving()
    return client
  }

  return {
    authenticate(authorization, action) {
      const secret = secretIn(authorization)
      const found = secret ? store.findBySecret(secret) : undefined
      if (!found) throw unauthorized(whatCame(secret, store))
      const { client, kept } = found
      admitted(client)
      const { scope = {}, validUntil: until } = kept
      checkAction(scope, action)
      return { client, folder: scope.folder, until }
    },
    isSecret(text) {
      // Of every word of every path that is logged, and a digest is not for nothing.
      return text.length >= SECRET_MIN_LENGTH && store.findBySecret(text) !== undefined
    },
    ofToken(token) {
      const client = store.findByToken(token)
      if (!client)
        throw new Problem({
          status: 404,
          code: 'client_not_found',
          detail: 'No client has this token.',
        })
      return admitted(client)
    },
    async admits({ id, storage }) {
      await store.refresh({ maxAgeMs: trustMs }).catch((cause) => {
        throw unavailable('The status of this client cannot be verified at the moment. Retry.', {
          cause,
        })
      })
      const client = store.find(id)
      if (!client || client.removing) return false
      // It began to send them to where nobody would look for them.
      if (isPaused(client, now()) || !isSameRoot(client.storage, storage)) throw isMoving()
      return true
    },
  }
}

/** The secret of an `Authorization` header, `<secret>` or `Bearer <secret>`; undefined without one. */
export function secretIn(authorization: string | undefined): string | undefined {
  return authorization?.replace(/^Bearer +/i, '').trim()
}

function isMoving(): Problem {
  return unavailable('The files of this client are moving to another bucket. Retry in a few seconds.')
}

/** 401. `received` goes on after "expected a secret client token in the Authorization header". */
export function unauthorized(received: string): Problem {
  return new Problem({
    status: 401,
    code: 'unauthorized',
    detail: `expected a secret client token in the Authorization header ${received}`,
    headers: { 'WWW-Authenticate': 'Bearer realm="sluice"' },
  })
}

/** What came in place of a secret. Never quotes it: a secret with a typing error is nearly one. */
function whatCame(text: string | undefined, store: ClientStore): string {
  if (text === undefined) return 'but received none'
  if (/^Basic /i.test(text)) return 'but received Basic authentication. Send "Authorization: Bearer <secret>"'
  return text !== '' && store.findByToken(text)
    ? 'but received the public client token, which is only for URLs. Send the secret token'
    : 'but the token received is unknown'
}
