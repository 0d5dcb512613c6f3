import type { FileRef } from '../../../../core/files/file-ref.ts'
import type { FileLists } from '../../../../core/ports/file-index.ts'
import type { PageRequest } from '../../../../core/ports/index/page-request.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { readDirectKeys } from '../../direct-keys.ts'
import { boundsOf, LISTED_STATES, listed, placesOf, positionOf } from '../../positions.ts'
import { originalEntry } from '../entries.ts'
import { filesBetween, readEntries } from '../list.ts'
import { positionReader } from './read.ts'

/** The names of the index's keys. */
export interface PageNames {
  listOf(clientId: string, list: Pick<PageRequest, 'state' | 'by'>): string
  hashOf(ref: FileRef): string
}

/** Pages of the lists of originals, in Redis. */
export function redisPages(
  redis: RedisConnection,
  { listOf, hashOf }: PageNames,
): Pick<FileLists, 'filesBetween' | 'page' | 'directKeys'> {
  const positionsIn = positionReader(redis)
  const listKeys = (clientId: string, { state, by }: Pick<PageRequest, 'state' | 'by'>) => ({
    list: listOf(clientId, { state, by }),
    byKey: listOf(clientId, { state, by: 'key' }),
    by,
  })

  return {
    filesBetween(clientId, range) {
      const lists = LISTED_STATES.map((state) => listKeys(clientId, { state, by: 'key' }))
      return filesBetween(redis, { ...range, clientId, lists, hashOf, positionsIn })
    },

    async page(clientId, request) {
      const { state, by, limit } = request
      const positions = await positionsIn(listKeys(clientId, request), request, boundsOf(request))
      const places = placesOf(positions, request)
      const texts = await readEntries(
        redis,
        places.map(({ key }) => hashOf({ clientId, key })),
      )
      const files = places.map(({ key, position }, i) => {
        const entry = texts[i] ? originalEntry(key, texts[i]) : undefined
        // Omit an original whose state has changed since the list was read.
        if (entry?.state !== state) return undefined
        // The list has only a part of the digest, which never changes.
        return listed(entry, by === 'sha256' ? positionOf(entry.record, by) : position)
      })
      const last = positions.length < limit ? undefined : positions.at(-1)
      const isOfLast = places.at(-1)?.position === last
      return {
        files: files
          .filter((file) => file !== undefined)
          .filter(({ position }) => isUnder(position, request)),
        next: last && isOfLast ? (files.at(-1)?.position ?? last) : last,
      }
    },
    async directKeys(clientId, request) {
      const list = listKeys(clientId, { state: request.state, by: 'key' })
      return readDirectKeys((bounds, limit) => positionsIn(list, { ...request, limit }, bounds), request)
    },
  }
}

/** Two digests may have the same beginning. */
function isUnder(position: string, { by, prefix = '' }: PageRequest): boolean {
  return by !== 'sha256' || position.startsWith(prefix)
}
