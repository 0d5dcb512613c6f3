import type { FileRef } from '../../../core/files/file-ref.ts'
import { classifyKey, storedKey } from '../../../core/files/object-key.ts'
import type { DerivativeUses, Use, UsedDerivative } from '../../../core/ports/derivative-uses.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import type { FencedKeys } from '../fence.ts'
import { derivativeEntry } from './entries.ts'
import type { KeyNames } from './keys.ts'
import { fieldsIn, readHashes } from './lists/originals.ts'
import * as scripts from './use-scripts.ts'

const HELD = Number(scripts.scoreOfHeld())

/** The names of the index's keys. */
export interface UseNames extends Pick<KeyNames, 'nameOf' | 'hashesOf' | 'usesOf' | 'sumsOf'> {
  /** The keys of a step on one original. */
  keys(ref: FileRef): readonly string[] | FencedKeys
}

/** The last uses of derivatives, in Redis. */
export function redisUses(redis: RedisConnection, names: UseNames): DerivativeUses {
  const { keys, nameOf, usesOf, sumsOf } = names

  async function ofOriginal(ref: FileRef, limit: number): Promise<UsedDerivative[]> {
    const flat = (await scripts.usesOf(redis, keys(ref), [nameOf(ref)])) as string[]
    const all = Array.from({ length: flat.length / 3 }, (_, i) => ({
      original: ref.key,
      key: storedKey(flat[3 * i] ?? ''),
      bytes: Number(flat[3 * i + 1]),
      score: Number(flat[3 * i + 2]),
    }))
    all.sort((one, other) => one.score - other.score || (one.key < other.key ? -1 : 1))
    return all.slice(0, limit).map(({ score, ...one }) => ({ ...one, use: scoredUse(score) }))
  }

  async function ofClient(clientId: string, limit: number): Promise<UsedDerivative[]> {
    const flat = await redis.send((client) =>
      client.zrange(usesOf(clientId), '0', String(limit - 1), 'WITHSCORES'),
    )
    const all = Array.from({ length: flat.length / 2 }, (_, i) => i).flatMap((i) => {
      const key = storedKey(flat[2 * i] ?? '')
      const original = classifyKey(key)?.original.key
      return original === undefined ? [] : [{ key, score: Number(flat[2 * i + 1]), original }]
    })
    const texts = await Promise.all(
      all.map(async ({ original, key }) => {
        const [file] = await readHashes(names, [{ clientId, key: original }], fieldsIn(redis, key))
        return file?.found.values[0]?.toString()
      }),
    )
    return all.flatMap(({ key, score, original }, i) => {
      const entry = texts[i] ? derivativeEntry(key, texts[i]) : undefined
      // Another process has evicted it since then.
      if (entry?.state !== 'stored') return []
      const { size, partsBytes = 0 } = entry.record
      return [{ original, key, bytes: size + partsBytes, use: scoredUse(score) }]
    })
  }

  return {
    async derivedBytes({ clientId, key }) {
      const [client, original] = await redis.send((connected) => connected.hmget(sumsOf(clientId), '', key))
      return { client: Number(client ?? 0), original: Number(original ?? 0) }
    },
    leastUsed: ({ clientId, key }, limit) =>
      key === undefined ? ofClient(clientId, limit) : ofOriginal({ clientId, key }, limit),
    async noteUse(ref, derivative, { at, isHeld }) {
      await scripts.noteUse(redis, keys(ref), [nameOf(ref), derivative, Math.floor(at), isHeld ? HELD : 0])
    },
    async beginEviction(ref, derivative, deadline) {
      return (await scripts.beginEviction(redis, keys(ref), [nameOf(ref), derivative, deadline])) === 1
    },
    async countDerivatives(ref) {
      await scripts.countDerivatives(redis, keys(ref), [nameOf(ref)])
    },
  }
}

/** The score of a use in the sorted set. */
export function scoreOf({ at, isHeld }: Use): number {
  return Math.floor(at) + (isHeld ? HELD : 0)
}

function scoredUse(score: number): Use {
  return { at: score % HELD, isHeld: score >= HELD }
}
