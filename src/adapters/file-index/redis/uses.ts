import type { FileRef } from '../../../core/files/file-ref.ts'
import type { DerivativeUses, Use, UsedDerivative } from '../../../core/ports/derivative-uses.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import type { FencedKeys } from '../fence.ts'
import {
  derivativeEntry,
  derivativeNamed,
  HELD,
  nameIn,
  scoredUse,
  USE_BYTES,
} from './entries/derivatives.ts'
import { ifReadable } from './entries/packed.ts'
import type { KeyNames } from './keys.ts'
import { KEY_FIELD } from './lists/lua.ts'
import { keyAt } from './lists/originals.ts'
import { type Place, placeIn } from './lists/places.ts'
import { readMembers } from './tree/read.ts'
import * as scripts from './use-scripts.ts'

/** The names of the index's keys. */
export interface UseNames extends Pick<KeyNames, 'nameOf' | 'hashAt' | 'hashesOf' | 'usesOf' | 'sumOf'> {
  /** The keys of a step on one original. */
  keys(ref: FileRef): readonly string[] | FencedKeys
}

/** The last uses of derivatives, in Redis. */
export function redisUses(redis: RedisConnection, names: UseNames): DerivativeUses {
  const { keys, nameOf, hashAt, hashesOf, usesOf, sumOf } = names

  async function ofOriginal(ref: FileRef, limit: number): Promise<UsedDerivative[]> {
    const flat = (await scripts.usesOf(redis, keys(ref), [nameOf(ref)])) as string[]
    const all = Array.from({ length: flat.length / 3 }, (_, i) => ({
      original: ref.key,
      key: derivativeNamed(ref.key, flat[3 * i] ?? ''),
      bytes: Number(flat[3 * i + 1]),
      score: Number(flat[3 * i + 2]),
    }))
    all.sort((one, other) => one.score - other.score || (one.key < other.key ? -1 : 1))
    return all.slice(0, limit).map(({ score, ...one }) => ({ ...one, use: scoredUse(score) }))
  }

  async function ofClient(clientId: string, limit: number): Promise<UsedDerivative[]> {
    const members = (await readMembers(redis, usesOf(clientId), { limit })).map(useIn)
    const hashes = await redis.send((client) =>
      Promise.all(
        members.map(({ place, name }) => client.hmgetBuffer(hashAt(clientId, place), KEY_FIELD, name)),
      ),
    )
    return members.flatMap(({ place, name, use }, i) => {
      const [rest, bytes] = hashes[i] ?? []
      const original = keyAt(place, rest?.toString())
      if (!original || !bytes) return []
      const key = derivativeNamed(original, name)
      const entry = ifReadable(() => derivativeEntry(original, key, bytes))
      // Another process has evicted it since then.
      if (entry?.state !== 'stored') return []
      const { size, partsBytes = 0 } = entry.record
      return [{ original, key, bytes: size + partsBytes, use }]
    })
  }

  return {
    async derivedBytes(ref) {
      const sums = await scripts.derivedBytes(redis, [sumOf(ref.clientId), ...hashesOf(ref)], [ref.key])
      const [client, original] = sums as string[]
      return { client: Number(client), original: Number(original) }
    },
    leastUsed: ({ clientId, key }, limit) =>
      key === undefined ? ofClient(clientId, limit) : ofOriginal({ clientId, key }, limit),
    async noteUse(ref, derivative, { at, isHeld }) {
      const args = [nameOf(ref), nameIn(ref.key, derivative), Math.floor(at), isHeld ? HELD : 0]
      await scripts.noteUse(redis, keys(ref), args)
    },
    async beginEviction(ref, derivative, deadline) {
      const args = [nameOf(ref), nameIn(ref.key, derivative), deadline]
      return (await scripts.beginEviction(redis, keys(ref), args)) === 1
    },
    async countDerivatives(ref) {
      await scripts.countDerivatives(redis, keys(ref), [nameOf(ref)])
    },
  }
}

/** A member of the list of last uses. */
function useIn(member: Buffer): { use: Use; name: string; place: Place } {
  const score = member.readUIntBE(0, USE_BYTES - 1) * 256 + member.readUInt8(USE_BYTES - 1)
  const end = member.indexOf('\n', USE_BYTES)
  return {
    use: scoredUse(score),
    name: member.toString('utf8', USE_BYTES, end),
    place: placeIn(member.subarray(end + 1)),
  }
}
