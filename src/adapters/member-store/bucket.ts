import { Readable } from 'node:stream'
import { withExclusiveLock } from '../../core/async/cross-process-mutex.ts'
import { membersKey } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import type { MemberTable } from '../../core/members/member.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { Locks } from '../../core/ports/locks.ts'
import type { MemberStore } from '../../core/ports/members/member-store.ts'
import { unavailable } from '../../core/problem.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import type { ClientChanges } from '../client-store/bucket.ts'
import { createInTurn } from '../in-turn.ts'
import { NO_MEMBERS, parseMembers, serializeMembers } from './record.ts'

export interface BucketMemberStoreOptions {
  /** 32 bytes, with which the object is encrypted. */
  key: Buffer
  log: Log
  /** Set when several processes share the bucket. */
  shared?: { changes: ClientChanges; locks: Locks } | undefined
  now?: () => number
}

// The object is read again this often. This covers a lost version and an object that was changed by hand.
const READ_AGAIN_MS = 5 * 60_000
// A change takes two operations of the bucket, which time out after a few seconds.
const CHANGE_LIMIT_MS = 30_000

/** Members in one object of the first client's bucket: one write changes all that belongs together. */
export async function bucketMemberStore(
  bucket: Bucket,
  { key, log, shared, now = Date.now }: BucketMemberStoreOptions,
): Promise<MemberStore> {
  const changes = shared?.changes
  // Read before the object: a change during the reading sets another version, so the next refresh reads again.
  let version = await changes?.version().catch(() => undefined)
  let readAt = now()
  let known = await read()
  const inTurn = createInTurn()

  /** @param former the known members. The object is never deleted: when it is missing, the bucket is not the one it was. */
  async function read(former: MemberTable = NO_MEMBERS): Promise<MemberTable> {
    const object = await snapshot(bucket, membersKey)
    if (!object && former !== NO_MEMBERS)
      throw unavailable('the members of the console are missing from the bucket; the log has the details', {
        cause: new Error(
          `${membersKey} is missing from the bucket; restore it, or restart to begin without members`,
        ),
      })
    if (!object) return NO_MEMBERS
    const table = parseMembers(object.bytes, key)
    if (table) return table
    log.warn(
      { key: membersKey },
      'the members of the console cannot be read with this APP_SECRET and cannot sign in; the next new member replaces them',
    )
    return NO_MEMBERS
  }

  async function refresh(): Promise<void> {
    const begun = now()
    let failure: { error: unknown } | undefined
    const present = await changes?.version().catch((error) => {
      failure = { error }
      return version
    })
    const isDue = begun >= readAt + READ_AGAIN_MS
    // Also when the clock was set back.
    if (present !== version || isDue || begun < readAt) {
      known = await read(known)
      version = present
      readAt = begun
    }
    if (failure) throw failure.error
  }

  const change: MemberStore['change'] = (make) =>
    oneAtATime((signal) =>
      inTurn(['members'], async () => {
        // Fails before the change when other processes could not be notified.
        await refresh()
        // A process may have died after it wrote the object and before it announced the change. So read it again.
        known = await read(known)
        const { table, result } = make(known)
        if (table === known) return result
        signal?.throwIfAborted()
        await write(table)
        return result
      }),
    )

  async function write(table: MemberTable): Promise<void> {
    const bytes = serializeMembers(table, key)
    await bucket.put(membersKey, Readable.from([bytes]), { mediaType: 'application/json' })
    known = table
    await changes?.announce().catch((cause) => {
      throw unavailable(
        'member change stored, but other processes were not notified: they see it within five minutes',
        { cause },
      )
    })
  }

  function oneAtATime<T>(work: (signal?: AbortSignal) => Promise<T>): Promise<T> {
    return shared ? withExclusiveLock(shared.locks, 'members', work, { limitMs: CHANGE_LIMIT_MS }) : work()
  }

  return {
    table: () => known,
    change,
    refresh: () => inTurn(['members'], refresh),
  }
}
