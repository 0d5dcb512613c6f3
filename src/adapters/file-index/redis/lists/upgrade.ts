import { storedKey } from '../../../../core/files/object-key.ts'
import type { FolderCounts } from '../../../../core/ports/index/folder-counts.ts'
import type { IndexUpkeep } from '../../../../core/ports/index/index-upkeep.ts'
import type { ListedState } from '../../../../core/ports/index/listed-state.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { LISTED_STATES, ORDERS, type Order } from '../../positions.ts'
import { ownerOf } from '../names.ts'
import type { IndexNames } from '../search/former.ts'
import type { UpgradeLease } from '../upgrade-lease.ts'
import { replant, reviewLeaf } from './steps.ts'

// Files at a time: about 2 ms of Redis.
const AT_ONCE = 20
// One call converts about 30,000 files of a partition.
const PAGES_MAX = 1500

export interface ListUpgradeParts extends IndexNames, UpgradeLease, Pick<FolderCounts, 'recount'> {
  /** Exists while the trees may have members for which the files have changed: version 1.0 has run after this one. */
  reviewing: string
  clientKeys(clientId: string): string[]
  listOf(clientId: string, list: { state: ListedState; by: Order }): string
}

/**
 * Moves the originals that version 1.0 has listed into the trees, in the order of their keys. Lists are complete in the meantime, since
 * they are read from both. An original that has no place in the trees remains.
 *
 * After a time with version 1.0, the trees have members of originals that it has deleted, moved to the trash or renamed. These are removed.
 */
export function listUpgrade(redis: RedisConnection, parts: ListUpgradeParts): IndexUpkeep['upgrade'] {
  const { reviewing, clientKeys, listOf, hold, release, hashOf, nameOf, keyPrefix, recount } = parts
  /** The clients that may have lists of an older version, and how far these were read: a state and a key in it. */
  const due = new Map<string, Map<ListedState, string>>()
  const reviews = new Set<string>()

  const hasPlain = async (clientId: string) => {
    const lists = LISTED_STATES.map((state) => listOf(clientId, { state, by: 'key' }))
    return (await redis.send((client) => client.exists(...lists))) > 0
  }

  /** @returns the pages that are left; 0 when this process has to stop */
  async function convert(
    clientId: string,
    { signal, pages }: { signal: AbortSignal; pages: number },
  ): Promise<number> {
    const read = due.get(clientId) ?? new Map<ListedState, string>()
    let left = pages
    for (const state of LISTED_STATES)
      for (let count = AT_ONCE; count === AT_ONCE; left -= 1) {
        signal.throwIfAborted()
        if (left <= 0 || !(await hold())) return 0
        const after = read.get(state)
        const min = after === undefined ? '-' : `(${after}`
        const list = listOf(clientId, { state, by: 'key' })
        const found = await redis.send((client) => client.zrangebylex(list, min, '+', 'LIMIT', 0, AT_ONCE))
        count = found.length
        const refs = found.map((key) => ({ clientId, key: storedKey(key) }))
        const stepKeys = [...clientKeys(clientId), ...refs.map(hashOf)]
        if (count > 0) await replant(redis, stepKeys, [...refs.map(nameOf), state])
        read.set(state, found.at(-1) ?? after ?? '')
      }
    due.delete(clientId)
    return left
  }

  /** Removes members for which the files have changed from the trees, then counts again. */
  async function review(clientId: string, signal: AbortSignal): Promise<boolean> {
    for (const state of LISTED_STATES)
      for (const [i, by] of ORDERS.entries()) {
        const leaves = `${listOf(clientId, { state, by })}:leaves`
        for (let from: string | Buffer = '-'; ; ) {
          signal.throwIfAborted()
          if (!(await hold())) return false
          const min: string | Buffer = from
          const [leaf] = await redis.send((client) =>
            client.zrangebylexBuffer(leaves, min, '+', 'LIMIT', 0, 1),
          )
          if (!leaf) break
          const hashes = `${keyPrefix}file:${ownerOf(clientId)}`
          await reviewLeaf(redis, clientKeys(clientId), ['', state, i + 1, leaf, hashes])
          from = Buffer.concat([Buffer.from('('), leaf])
        }
      }
    await recount(clientId, { repair: true, signal })
    return true
  }

  return async (signal, clientIds) => {
    for (const id of clientIds) if (!due.has(id)) due.set(id, new Map())
    if ((await redis.send((client) => client.exists(reviewing))) > 0)
      for (const id of clientIds) reviews.add(id)
    for (const id of due.keys()) {
      signal.throwIfAborted()
      if (!(await hasPlain(id))) due.delete(id)
    }
    if ((due.size === 0 && reviews.size === 0) || !(await hold())) return
    const errors: unknown[] = []
    const isReview = reviews.size > 0
    let pages = PAGES_MAX
    for (const id of [...due.keys()])
      await convert(id, { signal, pages }).then(
        (left) => {
          pages = left
        },
        (error) => errors.push(error),
      )
    if (due.size === 0)
      for (const id of reviews)
        await review(id, signal).then(
          (isDone) => isDone && reviews.delete(id),
          (error) => errors.push(error),
        )
    if (isReview && reviews.size === 0) await redis.send((client) => client.del(reviewing))
    await release()
    if (errors.length > 0) throw errors[0]
  }
}
