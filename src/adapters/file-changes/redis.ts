import { randomUUID } from 'node:crypto'
import type { Log } from '../../core/log.ts'
import {
  type ChangedFile,
  changedFile,
  type FileChangeListener,
  type FileChanges,
} from '../../core/ports/index/file-changes.ts'
import { hashPrefix } from '../file-index/redis/keys.ts'
import { parseName } from '../file-index/redis/names.ts'
import type { RedisKeyspace } from '../redis/keyspaces.ts'

/** {@link FileChanges} of all processes that use one Redis. */
export interface SharedFileChanges extends FileChanges {
  close(): Promise<void>
}

// The channel on which Redis sends the names of changed keys.
const CHANNEL = '__redis__:invalidate'
// For this time after a change of our own, whose report has arrived, the reports of other changes may be late.
const TRUST_MS = 2000
const ASK_EVERY_MS = 500
// A report that takes so long will not arrive.
const LATE_MS = 3000
// The key of a dead process disappears.
const CHECK_TTL_MS = 60_000

/**
 * The changes of files by all processes, as Redis reports them: it sends the name of each changed hash of the index, whichever
 * process has changed it. A key of our own, changed twice a second, proves that the reports arrive. In a cluster, each
 * keyspace has such a key.
 *
 * Without the command CLIENT TRACKING, as on some hosted servers, no changes are known: {@link FileChanges.knownUntil} is in the past.
 *
 * @see https://redis.io/docs/latest/develop/reference/client-side-caching/ broadcasting mode
 */
export function redisFileChanges(
  keyspaces: readonly RedisKeyspace[],
  { log, now = () => performance.now() }: { log: Log; now?: () => number },
): SharedFileChanges {
  const listeners: FileChangeListener[] = []
  let followed: Followed[] = []
  let isRefused = false
  const reports: Reports = {
    changed(file) {
      for (const { changed } of listeners) changed(file)
    },
    missed() {
      for (const { missed } of listeners) missed()
    },
    refused(err) {
      if (!isRefused) log.warn({ err }, 'Redis refuses CLIENT TRACKING, so the hot cache is not used')
      isRefused = true
    },
  }
  return {
    listen(listener) {
      listeners.push(listener)
      // Only web processes listen: workers and commands need no connections for it.
      if (listeners.length === 1) followed = keyspaces.map((keyspace) => follow(keyspace, reports, now))
    },
    knownUntil() {
      let least = followed.length > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
      for (const { knownUntil } of followed) least = Math.min(least, knownUntil())
      return least
    },
    async close() {
      await Promise.all(followed.map(({ close }) => close()))
    },
  }
}

/** What happens in a keyspace. */
interface Reports {
  changed(file: ChangedFile): void
  missed(): void
  refused(error: Error): void
}

interface Followed {
  knownUntil(): number
  close(): Promise<void>
}

/** Follows the changes of files in one keyspace. */
function follow({ redis, keyPrefix }: RedisKeyspace, reports: Reports, now: () => number): Followed {
  const prefix = hashPrefix(keyPrefix)
  const check = `${keyPrefix}changes-check:${randomUUID()}`
  // In version 3 of the protocol, the names arrive in a way that ioredis does not report.
  const connection = redis.another({ protocol: 2 })
  const { client } = connection
  let knownUntil = Number.NEGATIVE_INFINITY
  let isSubscribed = false
  /** The time of the oldest change of `check` whose report has not arrived. */
  let askedAt: number | undefined

  const miss = () => {
    knownUntil = Number.NEGATIVE_INFINITY
    reports.missed()
  }
  // Reports arrive in order: with that of our own change, all reports of earlier changes have arrived.
  const ask = async () => {
    if (!isSubscribed) return
    askedAt ??= now()
    await redis.send((main) => main.set(check, '', 'PX', CHECK_TTL_MS))
    // The other connection has lost its server without noticing it: it sends nothing.
    if (askedAt !== undefined && now() - askedAt > LATE_MS) client.disconnect(true)
  }
  const report = (names: readonly Buffer[] | null) => {
    // FLUSHALL has removed all keys.
    if (names === null) return miss()
    for (const name of names.map(String)) {
      if (name.startsWith(prefix)) {
        // It ends with an id or with a key.
        const { clientId, end } = parseName(name.slice(prefix.length))
        reports.changed(changedFile(clientId, end))
      } else if (name === check && isSubscribed && askedAt !== undefined) {
        knownUntil = askedAt + TRUST_MS
        askedAt = undefined
      }
    }
  }
  const subscribe = async () => {
    const id = String(await client.client('ID'))
    const prefixes = ['PREFIX', prefix, 'PREFIX', check]
    await client.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id, 'BCAST', ...prefixes)
    await client.subscribe(CHANNEL)
    isSubscribed = true
    askedAt = undefined
    // What was read before may have changed before the subscription.
    miss()
    await ask().catch(() => {})
  }
  const begin = () =>
    void subscribe().catch((error) => {
      // The connection reconnects by itself, and `ready` is emitted again.
      if (error.name !== 'ReplyError') return client.disconnect(true)
      reports.refused(error)
    })
  const lose = () => {
    isSubscribed = false
    miss()
  }
  // In a cluster, the keys may be on another node from now on.
  const renew = () => {
    lose()
    client.disconnect(true)
  }
  client.on('ready', begin)
  client.on('close', lose)
  redis.client.on('close', renew)
  client.on('messageBuffer', (_channel: Buffer, names: unknown) => report(names as readonly Buffer[] | null))
  if (client.status === 'ready') begin()
  const asking = setInterval(() => void ask().catch(() => {}), ASK_EVERY_MS).unref()
  return {
    knownUntil: () => knownUntil,
    async close() {
      clearInterval(asking)
      client.off('ready', begin)
      client.off('close', lose)
      redis.client.off('close', renew)
      await connection.close()
    },
  }
}
