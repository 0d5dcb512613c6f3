import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { PARTITIONS } from '../../../core/files/partition.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { ownerOf } from '../redis/names.ts'
import { beginMove, endMove, readDivision } from './move-scripts.ts'
import { type Division, firstPartition, type Move } from './partitions.ts'

/** How long the steps of a move take. All processes of an installation need the same times, in milliseconds. */
export interface MoveTimes {
  /** For how long a process trusts what it has read. A node that was emptied has lost the divisions of its clients. */
  trustMs: number
  /** From the record of a move until its pause. Longer than `trustMs` and a slow response: then all processes know the move. */
  noticeMs: number
  /** The pause, in which no step of the client begins, and those of the time before end: a command fails after 1.5 seconds. */
  pauseMs: number
}

export const MOVE_TIMES: MoveTimes = { trustMs: 1000, noticeMs: 6000, pauseMs: 2000 }

const REMEMBERED = 10_000

const CLOCK = {
  /** Milliseconds of a clock that never goes back. */
  now: () => performance.now(),
  wait: (ms: number): Promise<unknown> => pause(ms),
}

/** A division as it was read. The instants are those of the clock. */
interface Known {
  division: Division
  /** Until when the files are where they were before the move, and from when on they move. No step begins in between. */
  pausesAt: number
  beginsAt: number
}

/**
 * How the files of each client are divided, as Redis has it. Each client has a key `partitions:<client>` with a number; or
 * `<from>><to>@<name>` during a move, which older versions refuse. The key `upcoming:<client>` expires when the move begins. Both
 * are in the first partition of the client, whose clock alone counts.
 *
 * @param options.perClient the division of a new client. It is stored when it is first read
 */
export function redisDivisions(
  keyspaces: readonly RedisKeyspace[],
  { perClient, times, clock = CLOCK }: { perClient: number; times: MoveTimes; clock?: typeof CLOCK },
) {
  const at = (clientId: string) => {
    const { redis, keyPrefix } = keyspaces[firstPartition(clientId)] as RedisKeyspace
    return { redis, keys: [divisionKey(keyPrefix, clientId), `${keyPrefix}upcoming:${ownerOf(clientId)}`] }
  }
  /** @param added stored where the client has no division */
  const readOr = async (clientId: string, added: number | '') => {
    const { redis, keys } = at(clientId)
    const [text, remaining] = (await readDivision(redis, keys, [added])) as [string, number]
    return { division: text === '' ? perClient : parsed(text), remainingMs: Math.max(0, remaining) }
  }
  const read = (clientId: string) => readOr(clientId, perClient)
  const known = new LRUCache<string, Known>({
    max: REMEMBERED,
    ttl: times.trustMs,
    ttlResolution: 0,
    perf: clock,
    async fetchMethod(clientId, stale) {
      const askedAt = clock.now()
      try {
        const { division, remainingMs } = await read(clientId)
        // Redis has read its clock after the request and before the response.
        return {
          division,
          pausesAt: askedAt + remainingMs - times.pauseMs,
          beginsAt: remainingMs === 0 ? 0 : clock.now() + remainingMs,
        }
      } catch (error) {
        // While the node is down that has the division, the others can be used.
        if (stale === undefined) throw error
        return stale
      }
    },
  })

  return {
    /** The division by which a step acts now. It waits during the pause before a move. */
    async of(clientId: string): Promise<Division> {
      for (;;) {
        const { division, pausesAt, beginsAt } = await known.forceFetch(clientId)
        if (typeof division === 'number') return division
        const now = clock.now()
        if (now >= beginsAt) return division
        if (now < pausesAt) return division.from
        await clock.wait(beginsAt - now)
      }
    },
    /** The division as it is stored, and the milliseconds until it begins. */
    read,
    /** The same, but nothing is stored for a new client. */
    look: (clientId: string) => readOr(clientId, ''),
    /** Stores a move, which begins after the notice and the pause. @returns false when the division differs from `from` */
    async begin(clientId: string, move: Move): Promise<boolean> {
      const { redis, keys } = at(clientId)
      const args = [String(move.from), textOf(move), times.noticeMs + times.pauseMs]
      return (await beginMove(redis, keys, args)) === 1
    },
    /** Ends a move. @returns false when it is not the current one */
    async end(clientId: string, move: Move): Promise<boolean> {
      const { redis, keys } = at(clientId)
      return (await endMove(redis, keys.slice(0, 1), [textOf(move), String(move.to)])) === 1
    },
  }
}

export type Divisions = ReturnType<typeof redisDivisions>

/** The key with the division of a client, in the keyspace of its first partition. */
export function divisionKey(keyPrefix: string, clientId: string): string {
  return `${keyPrefix}partitions:${ownerOf(clientId)}`
}

/** The text of a move in Redis. */
export function textOf({ from, to, id }: Move): string {
  return `${from}>${to}@${id}`
}

/** @throws Error for a text that this version does not know, since files would be missing in silence */
function parsed(text: string): Division {
  const [, from, to, id] = /^(\d+)>(\d+)@(.+)$/.exec(text) ?? []
  if (id !== undefined) return { from: Number(from), to: Number(to), id }
  const count = Number(text)
  if (Number.isInteger(count)) return count
  throw new Error(`expected 1 to ${PARTITIONS} partitions per client, received "${text}"`)
}
