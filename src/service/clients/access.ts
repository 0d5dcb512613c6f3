import { type Client, isPaused } from '../../core/clients/client.ts'
import { isSameRoot } from '../../core/clients/client-storage.ts'
import type { Grant } from '../../core/clients/grant.ts'
import { type Action, checkAction } from '../../core/clients/secret-scope.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import { Problem, unavailable } from '../../core/problem.ts'
import { noSuchClient } from './change-existing.ts'

/**
 * Identifies the client of a request, and its rights. While the
 * files of a client move to another bucket, its requests get 503.
 */
export interface ClientAccess {
  /**
   * The rights that an `Authorization` header grants: `<secret>` or `Bearer <secret>`.
   * @throws Problem 401, 403 for a secret whose scope excludes this action
   */
  authenticate(authorization: string | undefined, action: Action): Grant
  /** Whether a text is the secret token of any client. */
  isSecret(text: string): boolean
  /** A client by its ID, for a member who may see it. @throws Problem 404 when it does not exist or is being removed, 503 */
  withId(id: string): Client
  /** The client of a delivery URL. @throws Problem 404 */
  ofToken(token: string): Client
  /** Whether this is the latest state of a client, and {@link ClientAccess.ofToken} would return it now. */
  isCurrent(client: Client): boolean
  /**
   * Whether the client may still store files: it exists and is not being removed, also by other processes.
   * @param client as it was when the upload began
   * @throws Problem 503 when its root has changed since then; and when changes by other processes are unknown for too long:
   *   this process may have been frozen
   */
  admits(client: Pick<Client, 'id' | 'storage'>): Promise<boolean>
}

// The minimum of SECRET_CLIENT_TOKEN. Generated secrets are longer.
const SECRET_MIN_LENGTH = 16

export function createClientAccess({
  store,
  trustMs,
  now,
}: {
  store: ClientStore
  /** How long the cached clients are valid, in milliseconds: at most the time that a removal waits for other processes. */
  trustMs: number
  now: () => number
}): ClientAccess {
  /** Checks that the client is not paused. @throws Problem 503 while it moves to another bucket */
  function admitted(client: Client): Client {
    if (isPaused(client, now())) throw movingProblem()
    return client
  }

  return {
    authenticate(authorization, action) {
      const secret = secretIn(authorization)
      const found = secret ? store.findBySecret(secret) : undefined
      if (!found) throw unauthorized(describeReceived(secret, store))
      const { client, stored } = found
      admitted(client)
      const { scope = {}, validUntil: until, digest: secretDigest } = stored
      checkAction(scope, action)
      return { client, folder: scope.folder, until, secretDigest }
    },
    isSecret(text) {
      // This runs for every word of every logged path, and a digest costs time. So short texts are skipped.
      return text.length >= SECRET_MIN_LENGTH && store.findBySecret(text) !== undefined
    },
    withId(id) {
      const client = store.find(id)
      if (!client || client.removing) throw noSuchClient(id)
      return admitted(client)
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
    isCurrent: (client) => store.findByToken(client.token) === client && !isPaused(client, now()),
    async admits({ id, storage }) {
      await store.refresh({ maxAgeMs: trustMs }).catch((cause) => {
        throw unavailable('The status of this client cannot be verified at the moment. Retry.', {
          cause,
        })
      })
      const client = store.find(id)
      if (!client || client.removing) return false
      // The upload began in the former root, where the file would be lost.
      if (isPaused(client, now()) || !isSameRoot(client.storage, storage)) throw movingProblem()
      return true
    },
  }
}

/** The secret of an `Authorization` header, `<secret>` or `Bearer <secret>`; undefined without one. */
export function secretIn(authorization: string | undefined): string | undefined {
  return authorization?.replace(/^Bearer +/i, '').trim()
}

function movingProblem(): Problem {
  return unavailable('The files of this client are moving to another bucket. Retry in a few seconds.')
}

/** 401. `received` continues the text "expected a secret client token in the Authorization header". */
export function unauthorized(received: string): Problem {
  return new Problem({
    status: 401,
    code: 'unauthorized',
    detail: `expected a secret client token in the Authorization header ${received}`,
    headers: { 'WWW-Authenticate': 'Bearer realm="sluice"' },
  })
}

/** Describes the received text. Never quotes it: a secret with a typing error is almost the secret. */
function describeReceived(text: string | undefined, store: ClientStore): string {
  if (text === undefined) return 'but received none'
  if (/^Basic /i.test(text)) return 'but received Basic authentication. Send "Authorization: Bearer <secret>"'
  return text !== '' && store.findByToken(text)
    ? 'but received the public client token, which is only for URLs. Send the secret token'
    : 'but the token received is unknown'
}
