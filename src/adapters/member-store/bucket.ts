import { Readable } from 'node:stream'
import { membersKey } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import type { MemberTable } from '../../core/members/member.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { MemberStore } from '../../core/ports/members/member-store.ts'
import { unavailable } from '../../core/problem.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { createSharedCopy, type Shared } from '../shared-copy/shared-copy.ts'
import { NO_MEMBERS, parseMembers, serializeMembers } from './record.ts'

export interface BucketMemberStoreOptions {
  /** 32 bytes, with which the object is encrypted. */
  key: Buffer
  log: Log
  /** Set when several processes share the bucket. */
  shared?: Shared | undefined
  now?: () => number
}

/** Members in one object of the first client's bucket: one write changes all that belongs together. */
export async function bucketMemberStore(
  bucket: Bucket,
  { key, log, shared, now = Date.now }: BucketMemberStoreOptions,
): Promise<MemberStore> {
  const copy = await createSharedCopy({ subject: 'member', read, shared, now })

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

  const change: MemberStore['change'] = (make) =>
    copy.change('members', async (signal) => {
      // A process may have died after it wrote the object and before it announced the change. So read it again.
      const present = await read(copy.value())
      copy.set(present)
      const { table, result } = make(present)
      if (table === present) return result
      signal?.throwIfAborted()
      await write(table)
      return result
    })

  async function write(table: MemberTable): Promise<void> {
    const bytes = serializeMembers(table, key)
    await bucket.put(membersKey, Readable.from([bytes]), { mediaType: 'application/json' })
    copy.set(table)
    await copy.announce()
  }

  return {
    table: copy.value,
    change,
    refresh: copy.refresh,
  }
}
