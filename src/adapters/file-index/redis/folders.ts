import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { FolderCount, FolderCounts } from '../../../core/ports/index/folder-counts.ts'
import type { ListedState } from '../../../core/ports/index/listed-state.ts'
import { unavailable } from '../../../core/problem.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import { LISTED_STATES } from '../positions.ts'
import * as scripts from './folder-scripts.ts'
import { folderKeys, type KeyNames } from './keys.ts'

// About 10 ms of Redis.
const PAGE = 500
// After this time without a step, the process of a recount has died.
const EXPIRE_MS = 30_000
const POLL_INTERVAL_MS = 200
const COUNTERS = ['files', 'bytes', 'directFiles'] as const

/** The counters of folders, in Redis. */
export function redisFolders(
  redis: RedisConnection,
  { prefix, clientKeys, hashAt }: Pick<KeyNames, 'prefix' | 'clientKeys' | 'hashAt'>,
): Omit<FolderCounts, 'isCounted'> {
  async function counts(
    clientId: string,
    state: ListedState,
    folders: readonly string[],
  ): Promise<FolderCount[]> {
    if (folders.length === 0) return []
    const [hash = ''] = folderKeys(prefix, clientId)
    const fields = folders.flatMap((folder) => COUNTERS.map((counter) => `${state}\n${folder}\n${counter}`))
    const values = (await redis.send((client) => client.hmget(hash, ...fields))).map(Number)
    return folders.map((_, i) => {
      const [files = 0, bytes = 0, directFiles = 0] = values.slice(3 * i, 3 * i + 3)
      return { files, bytes, directFiles }
    })
  }

  return {
    async folderCount(clientId, state, folder) {
      const [count] = await counts(clientId, state, [folder])
      return count as FolderCount
    },

    async subfolders(clientId, { parent, after, limit }) {
      const [, names = ''] = folderKeys(prefix, clientId)
      const members = await redis.send((client) =>
        client.zrangebylex(names, `(${parent}\n${after ?? ''}`, `(${parent}\v`, 'LIMIT', 0, limit),
      )
      const found = members.map((member) => member.slice(parent.length + 1))
      const folders = found.map((name) => (parent === '' ? name : `${parent}/${name}`))
      const known = await counts(clientId, 'stored', folders)
      return {
        // Omit a folder whose last file was deleted since the names were read.
        folders: folders.flatMap((folder, i) => {
          const count = known[i]
          return count && count.files > 0 ? [{ folder, ...count }] : []
        }),
        next: members.length < limit ? undefined : found.at(-1),
      }
    },

    async recount(clientId, { repair, signal }) {
      const keys = clientKeys(clientId)
      const run = randomUUID()
      while ((await scripts.beginRecount(redis, keys, [run, EXPIRE_MS])) !== 1)
        await pause(POLL_INTERVAL_MS, undefined, signal ? { signal } : {})
      const originals = hashAt(clientId, { id: '' })
      try {
        for (const state of LISTED_STATES)
          for (let counted = PAGE; counted === PAGE; ) {
            signal?.throwIfAborted()
            counted = Number(await scripts.countPage(redis, keys, [run, EXPIRE_MS, state, PAGE, originals]))
            if (counted < 0) throw expired()
          }
        const wrong = (await scripts.endRecount(redis, keys, [run, repair ? 1 : 0])) as string[] | null
        if (!wrong) throw expired()
        return wrong.map((name) => {
          const end = name.indexOf('\n')
          return { state: name.slice(0, end) as ListedState, folder: name.slice(end + 1) }
        })
      } catch (error) {
        await scripts.dropRecount(redis, keys, [run]).catch(() => {})
        throw error
      }
    },
  }
}

function expired() {
  return unavailable('The count of folders was interrupted. Retry in a minute.')
}
