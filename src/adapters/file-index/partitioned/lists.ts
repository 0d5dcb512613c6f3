import type { ObjectKey } from '../../../core/files/object-key.ts'
import type { DerivativeUses, UsedDerivative } from '../../../core/ports/derivative-uses.ts'
import type { FileIndex, FileLists, IndexedFile, ListedFile } from '../../../core/ports/file-index.ts'
import type { CountedFolder, FolderCount } from '../../../core/ports/index/folder-counts.ts'
import type { ListedState } from '../../../core/ports/index/listed-state.ts'
import { SearchAllowance } from '../../../core/ports/index/search-allowance.ts'
import { derivedBytesOver } from './derived-bytes.ts'
import { type JoinRequest, joinPages, type ListPage, type MergeRequest, mergeSorted } from './merge.ts'
import { askEach, type Partitions } from './partitions.ts'

type Lists = Pick<
  FileLists,
  | 'filesBetween'
  | 'page'
  | 'isPosition'
  | 'pick'
  | 'totals'
  | 'folderCount'
  | 'subfolders'
  | 'recount'
  | 'directKeys'
  | 'search'
  | 'isSearchable'
> &
  Pick<DerivativeUses, 'derivedBytes' | 'leastUsed'>

const SEARCH_SPARE = 100

/** Lists, counts and searches over the partitions of a client. */
export function partitionedLists(partitions: Partitions): Lists {
  const { ofClient, read } = partitions
  const each = <T>(clientId: string, ask: (index: FileIndex) => Promise<T>) =>
    read(clientId, (of) => askEach(of, ask))
  const merged = <T>(
    clientId: string,
    request: Omit<MergeRequest<FileIndex, T>, 'lists'> & Pick<JoinRequest<T>, 'nameOf'>,
  ): Promise<ListPage<T>> =>
    read(clientId, async ({ leaving, remaining }) => {
      if (leaving.length === 0) return mergedFrom(remaining, request)
      const first = await mergedFrom(leaving, request)
      return joinPages([first, await mergedFrom(remaining, request)], request)
    })

  return {
    async filesBetween(clientId, { after, upTo, limit }) {
      const { items, next } = await merged<IndexedFile>(clientId, {
        ...(after === '' ? {} : { after }),
        limit,
        async read(index, range) {
          const part = await index.filesBetween(clientId, { after: '', upTo, ...range })
          return { items: part.files.map((item) => ({ position: item.ref.key, item })), next: part.next }
        },
      })
      return { files: items.map(({ item }) => item), next }
    },

    async page(clientId, request) {
      const { items, next, looked } = await merged<ListedFile>(clientId, {
        ...request,
        nameOf: ({ record }) => record.key,
        async read(index, range) {
          const page = await index.page(clientId, { ...request, ...range })
          return { items: page.files.map((item) => ({ position: item.position, item })), next: page.next }
        },
      })
      return { files: items.map(({ item }) => item), next, ...(looked === undefined ? {} : { looked }) }
    },

    isPosition: (position, by) => (partitions.all[0] as FileIndex).isPosition(position, by),

    pick: (clientId, request) =>
      read(clientId, async ({ placesOf }) => {
        const found = new Map<ObjectKey, ListedFile>()
        const places = request.keys.map(placesOf)
        // Those that files leave are read before the others.
        for (const turn of [0, 1]) {
          const groups = new Map<FileIndex, ObjectKey[]>()
          for (const [i, key] of request.keys.entries()) {
            const index = places[i]?.[turn]
            if (index) groups.set(index, [...(groups.get(index) ?? []), key])
          }
          const picked = await Promise.all(
            [...groups].map(([index, keys]) => index.pick(clientId, { ...request, keys })),
          )
          for (const file of picked.flat()) found.set(file.record.key, file)
        }
        return request.keys.flatMap((key) => found.get(key) ?? [])
      }),

    async totals(clientId) {
      const totals = await each(clientId, (index) => index.totals(clientId))
      const sumOf = (state: ListedState) => ({
        files: totals.reduce((files, one) => files + one[state].files, 0),
        bytes: totals.reduce((bytes, one) => bytes + one[state].bytes, 0),
      })
      return { stored: sumOf('stored'), trashed: sumOf('trashed') }
    },

    async folderCount(clientId, state, folder) {
      const counts = await each(clientId, (index) => index.folderCount(clientId, state, folder))
      return counts.reduce(added)
    },

    async subfolders(clientId, { parent, ...request }) {
      const { items, next } = await merged<CountedFolder>(clientId, {
        ...request,
        combine: (one, other) => ({ ...one, ...added(one, other) }),
        async read(index, range) {
          const page = await index.subfolders(clientId, { parent, ...range })
          const nameOf = ({ folder }: CountedFolder) => folder.slice(folder.lastIndexOf('/') + 1)
          return { items: page.folders.map((item) => ({ position: nameOf(item), item })), next: page.next }
        },
      })
      return { folders: items.map(({ item }) => item), next }
    },

    async recount(clientId, options) {
      const wrong = await askEach(await ofClient(clientId), (index) => index.recount(clientId, options))
      return [...new Map(wrong.flat().map((one) => [`${one.state}/${one.folder}`, one])).values()]
    },

    /** A merged page may be short, but these keys must be as many as the limit, if there are so many. */
    async directKeys(clientId, request) {
      const keys: ObjectKey[] = []
      for (let { after } = request; ; ) {
        const { items, next } = await merged<ObjectKey>(clientId, {
          ...request,
          ...(after === undefined ? {} : { after }),
          limit: request.limit - keys.length,
          async read(index, range) {
            const found = await index.directKeys(clientId, { ...request, ...range })
            const last = found.length < range.limit ? undefined : found.at(-1)
            return { items: found.map((item) => ({ position: item, item })), next: last }
          },
        })
        keys.push(...items.map(({ item }) => item))
        if (next === undefined || keys.length === request.limit) return keys
        after = next
      }
    },

    search: (clientId, term, { most, allowance = new SearchAllowance(most) }) =>
      read(clientId, async (of) => {
        // One that has much more than its share is proof enough that there are too many: they are counted, and not read. During a
        // move, there are no equal shares.
        const isMoving = of.leaving.length > 0
        const share = isMoving ? most : SEARCH_SPARE + 4 * Math.ceil(most / of.remaining.length)
        const perPartition = Math.min(most, share)
        // A file that moves is found in both of its partitions.
        const shared = isMoving ? new SearchAllowance(2 * most) : allowance
        const found = new Set<ObjectKey>()
        const searched = async (one: FileIndex) => {
          const keys = await one.search(clientId, term, { most: perPartition, allowance: shared })
          // The others need not read what the result does not need.
          if (!keys) shared.end()
          return keys
        }
        for (const keys of await askEach(of, searched)) {
          for (const key of keys ?? []) found.add(key)
          if (!keys || found.size > most) return undefined
        }
        return [...found]
      }),
    async isSearchable(clientId, record) {
      for (const index of (await ofClient(clientId)).placesOf(record.key))
        if (await index.isSearchable(clientId, record)) return true
      return false
    },

    derivedBytes: derivedBytesOver(partitions),
    async leastUsed(of, limit) {
      const { clientId, key } = of
      const used = new Map<ObjectKey, UsedDerivative>()
      const add = (some: readonly UsedDerivative[]) => {
        for (const one of some) used.set(one.key, one)
      }
      if (key === undefined)
        for (const some of await each(clientId, (index) => index.leastUsed(of, limit))) add(some)
      else for (const index of (await ofClient(clientId)).placesOf(key)) add(await index.leastUsed(of, limit))
      return [...used.values()].sort(byUse).slice(0, limit)
    },
  }
}

function added(one: FolderCount, other: FolderCount): FolderCount {
  return {
    files: one.files + other.files,
    bytes: one.bytes + other.bytes,
    directFiles: one.directFiles + other.directFiles,
  }
}

/** As {@link mergeSorted}. A single list needs no merging. */
async function mergedFrom<T>(
  lists: readonly FileIndex[],
  request: Omit<MergeRequest<FileIndex, T>, 'lists'>,
): Promise<ListPage<T>> {
  const [first, ...others] = lists
  return first && others.length === 0 ? request.read(first, request) : mergeSorted({ ...request, lists })
}

/** The order of eviction. */
function byUse({ use: one }: UsedDerivative, { use: other }: UsedDerivative): number {
  return Number(one.isHeld) - Number(other.isHeld) || one.at - other.at
}
