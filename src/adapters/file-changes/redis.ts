import { randomUUID } from 'node:crypto'
import type { Log } from '../../core/log.ts'
import type { FileChangeListener, FileChanges } from '../../core/ports/index/file-changes.ts'
import { refNamed } from '../file-index/redis/names.ts'
import type { RedisConnection } from '../redis/connection.ts'

/** {@link FileChanges} of all processes that use one Redis. */
export interface SharedFileChanges extends FileChanges {
  close(): Promise<void>
}

// The channel on which Redis sends the names of changed keys.
const CHANNEL = '__redis__:invalidate'
// For this time after a change of our own, whose report has arrived, the reports of other changes may be late.
const TRUST_MS = 2000
const ASK_EVERY_MS = 500
// The key of a dead process disappears.
const CHECK_TTL_MS = 60_000

/**
 * The changes of files by all processes, as Redis reports them: it sends the name of each changed hash of the index, whichever
 * process or version has changed it. A key of our own, changed twice a second, proves that the reports arrive.
 *
 * Without the command CLIENT TRACKING, as on some hosted servers, no changes are known: {@link FileChanges.knownUntil} is in the past.
 *
 * @see https://redis.io/docs/latest/develop/reference/client-side-caching/ broadcasting mode
 */
export function redisFileChanges(
  redis: RedisConnection,
  { keyPrefix, log, now = () => performance.now() }: { keyPrefix: string; log: Log; now?: () => number },
): SharedFileChanges {
  const prefix = `${keyPrefix}file:`
  const listeners: FileChangeListener[] = []
  let knownUntil = Number.NEGATIVE_INFINITY
  let close = async () => {}

  const miss = () => {
    knownUntil = Number.NEGATIVE_INFINITY
    for (const { missed } of listeners) missed()
  }
  function follow(): void {
    // In version 3 of the protocol, the names arrive in a way that ioredis does not report.
    const connection = redis.another({ protocol: 2 })
    const { client } = connection
    const check = `${keyPrefix}changes-check:${randomUUID()}`
    let isSubscribed = false
    let isRefused = false
    /** The time of the oldest change of `check` whose report has not arrived. */
    let askedAt: number | undefined

    // Reports arrive in order: with that of our own change, all reports of earlier changes have arrived.
    const ask = async () => {
      if (!isSubscribed) return
      askedAt ??= now()
      await redis.send((main) => main.set(check, '', 'PX', CHECK_TTL_MS))
    }
    const report = (names: readonly Buffer[] | null) => {
      // FLUSHALL has removed all keys.
      if (names === null) return miss()
      for (const name of names.map(String)) {
        if (name.startsWith(prefix)) {
          const ref = refNamed(name.slice(prefix.length))
          for (const { changed } of listeners) changed(ref)
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
      void subscribe().catch((err) => {
        // The connection reconnects by itself, and `ready` is emitted again.
        if (err.name !== 'ReplyError') return client.disconnect(true)
        if (!isRefused) log.warn({ err }, 'Redis refuses CLIENT TRACKING, so the hot cache is not used')
        isRefused = true
      })
    const lose = () => {
      isSubscribed = false
      miss()
    }
    client.on('ready', begin)
    client.on('close', lose)
    client.on('messageBuffer', (_channel: Buffer, names: unknown) =>
      report(names as readonly Buffer[] | null),
    )
    if (client.status === 'ready') begin()
    const asking = setInterval(() => void ask().catch(() => {}), ASK_EVERY_MS).unref()
    close = async () => {
      clearInterval(asking)
      client.off('ready', begin)
      client.off('close', lose)
      await connection.close()
    }
  }

  return {
    listen(listener) {
      listeners.push(listener)
      // Only web processes listen: workers and commands need no connection for it.
      if (listeners.length === 1) follow()
    },
    knownUntil: () => knownUntil,
    close: () => close(),
  }
}
