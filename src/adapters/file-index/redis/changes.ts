import type { FileRef } from '../../../core/files/file-ref.ts'
import type { RecordChange, RecordChanges } from '../../../core/ports/index/record-changes.ts'
import type { RedisConnection } from '../../redis/connection.ts'

const AT_MOST = 1000

/** The names of the index's keys. */
export interface ChangeNames {
  /** The key of the sorted set of changes, whose scores are the instants at which they are overdue. */
  set: string
  nameOf(ref: FileRef): string
  refNamed(name: string): FileRef
}

/** The record changes in progress, in Redis. */
export function redisChanges(redis: RedisConnection, { set, nameOf, refNamed }: ChangeNames): RecordChanges {
  // The instant is part of the member: an overdue change must not be mistaken for a later one of the same record.
  const memberOf = ({ ref, until }: RecordChange) => `${until}\n${nameOf(ref)}`
  return {
    async beginChange(change) {
      await redis.send((client) => client.zadd(set, change.until, memberOf(change)))
    },
    async endChange(change) {
      await redis.send((client) => client.zrem(set, memberOf(change)))
    },
    async overdueChanges(now) {
      const members = await redis.send((client) =>
        client.zrangebyscore(set, '-inf', now, 'LIMIT', 0, AT_MOST),
      )
      return members.map((member) => {
        const end = member.indexOf('\n')
        return { ref: refNamed(member.slice(end + 1)), until: Number(member.slice(0, end)) }
      })
    },
  }
}
