import { type ObjectKey, storedKey } from '../../../../core/files/object-key.ts'
import type { FileLists, FilesBetween, IndexedFile, ListedFile } from '../../../../core/ports/file-index.ts'
import type { PageRequest } from '../../../../core/ports/index/page-request.ts'
import { byBytes } from '../../../../core/text/byte-order.ts'
import type { RedisConnection } from '../../../redis/connection.ts'
import { readDirectKeys } from '../../direct-keys.ts'
import { type Bounds, boundsOf, LISTED_STATES, listed } from '../../positions.ts'
import { originalEntry } from '../entries/originals.ts'
import { ifReadable } from '../entries/packed.ts'
import { joined, PIECES } from '../entries/pieces.ts'
import type { KeyNames } from '../keys.ts'
import { indexedFile } from '../names.ts'
import { readMembers } from '../tree/read.ts'
import { entireHashes, fieldsIn, keyAt, keysAt, readHashes } from './originals.ts'
import { digestValue, isPosition, memberAt, memberOf, type Place, placeAt, positionOf } from './places.ts'

// Hashes read at a time: a hash with a thousand derivatives has about 200 kB.
const HASHES = 50

type Pages = Pick<FileLists, 'page' | 'isPosition' | 'pick' | 'directKeys' | 'filesBetween'>

/** An original that a list has, with its packed entry. */
interface Found {
  member: Buffer
  key: ObjectKey
  packed: Buffer | undefined
}

/** The lists of originals, in Redis. */
export function redisPages(redis: RedisConnection, names: KeyNames): Pages {
  const { listOf, hashAt } = names
  const entries = fieldsIn(redis, ...PIECES)

  /** Those of these members whose key matches. */
  async function byKey(clientId: string, members: readonly Buffer[], matches: PageRequest['matches']) {
    const keys = members.map((member) => storedKey(String(member)))
    const some = matches ? keys.filter(matches) : keys
    const refs = some.map((key) => ({ clientId, key }))
    const originals = await readHashes(names, refs, entries)
    return some.map(
      (key, i): Found => ({ member: Buffer.from(key), key, packed: joined(originals[i]?.found.values) }),
    )
  }

  /** The same in the other lists. The keys are read with the entries, or before them to leave out those that do not match. */
  async function byPlace(
    clientId: string,
    all: ReadonlyArray<{ member: Buffer; place: Place }>,
    matches: PageRequest['matches'],
  ): Promise<Found[]> {
    const keys = matches && (await keysAt(redis, names, clientId, places(all)))
    const some = matches ? all.filter((_, i) => keys?.[i] && matches(keys[i])) : all
    const hashes = await entries(some.map(({ place }) => hashAt(clientId, place)))
    return some.flatMap(({ member, place }, i) => {
      const key = keyAt(place, hashes[i]?.rest)
      // Since its key was read, another file may have taken its short name.
      const isMatch = key !== undefined && (!matches || matches(key))
      return isMatch ? [{ member, key, packed: joined(hashes[i]?.values) }] : []
    })
  }

  return {
    async page(clientId, request) {
      const { state, by, direction, limit, matches } = request
      const members = await readMembers(redis, listOf(clientId, request), {
        ...{ direction, limit },
        ...membersBetween(request),
      })
      const found =
        by === 'key'
          ? await byKey(clientId, members, matches)
          : await byPlace(
              clientId,
              members.map((member) => ({ member, place: placeAt(member, by) })),
              matches,
            )
      const last = members.at(-1)
      return {
        // Omit an original whose state has changed since the list was read, and one that cannot be read.
        files: found.flatMap(({ member, key, packed }): ListedFile[] => {
          const entry = packed && ifReadable(() => originalEntry(key, packed))
          if (entry?.state !== state || !hasPrefix(entry.record, request)) return []
          return [listed(entry, positionOf(member, by))]
        }),
        next: last && members.length === limit ? positionOf(last, by) : undefined,
      }
    },

    isPosition,

    async pick(clientId, { state, by, keys }) {
      const refs = keys.map((key) => ({ clientId, key }))
      const originals = await readHashes(names, refs, entries)
      return keys.flatMap((key, i) => {
        const { found, place } = originals[i] ?? {}
        const packed = joined(found?.values)
        const entry = packed && ifReadable(() => originalEntry(key, packed))
        if (entry?.state !== state || !place) return []
        return [listed(entry, positionOf(memberOf(entry.record, by, place), by))]
      })
    },

    directKeys(clientId, request) {
      const list = listOf(clientId, { state: request.state, by: 'key' })
      const { direction } = request
      return readDirectKeys(
        async (bounds, limit) =>
          (await readMembers(redis, list, { direction, limit, ...bounds })).map(String),
        request,
      )
    },

    async filesBetween(clientId, { after, upTo, limit }): Promise<FilesBetween> {
      const range = { above: after === '' ? undefined : after, upTo, limit }
      const lists = LISTED_STATES.map((state) => listOf(clientId, { state, by: 'key' }))
      const found = await Promise.all(lists.map((list) => readMembers(redis, list, range)))
      const keys = [...new Set(found.flat().map(String))].sort(byBytes).slice(0, limit)
      const refs = keys.map((key) => ({ clientId, key: storedKey(key) }))
      const files: IndexedFile[] = []
      for (let from = 0; from < refs.length; from += HASHES) {
        const some = refs.slice(from, from + HASHES)
        const originals = await readHashes(names, some, entireHashes(redis))
        for (const [i, ref] of some.entries()) {
          const file = ifReadable(() => indexedFile(ref, originals[i]?.found.hash ?? {}))
          // Since its list was read, its state may have changed.
          if (file && 'record' in file.original) files.push(file)
        }
      }
      return { files, next: keys.length < limit ? undefined : keys.at(-1) }
    },
  }
}

function places(all: ReadonlyArray<{ place: Place }>): Place[] {
  return all.map(({ place }) => place)
}

/** The bounds of members, both exclusive. */
function membersBetween(request: PageRequest): Bounds<string | Buffer> {
  const { by, direction = 'up', prefix, after } = request
  if (by === 'key') return boundsOf(request)
  const start = after === undefined ? undefined : memberAt(after, by)
  if (prefix === undefined)
    return direction === 'up' ? { above: start, below: undefined } : { above: undefined, below: start }
  const value = digestValue(...digestAndKey(prefix))
  // No place begins with this byte.
  const end = Buffer.concat([value, Buffer.of(0xff)])
  if (direction === 'up')
    return { above: start && Buffer.compare(start, value) > 0 ? start : value, below: end }
  return { above: value, below: start && Buffer.compare(start, end) < 0 ? start : end }
}

/** Whether an original belongs to a range. Few digests have the same value in the list by digest. */
function hasPrefix({ sha256, key }: ListedFile['record'], { by, prefix }: PageRequest): boolean {
  return by !== 'sha256' || prefix === undefined || `${sha256} ${key}`.startsWith(prefix)
}

function digestAndKey(prefix: string): [sha256: string, key: string] {
  const end = prefix.indexOf(' ')
  return [prefix.slice(0, end), prefix.slice(end + 1)]
}
