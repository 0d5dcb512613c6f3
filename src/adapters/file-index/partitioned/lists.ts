import type { ObjectKey } from '../../../core/files/object-key.ts'
import type { DerivativeUses, UsedDerivative } from '../../../core/ports/derivative-uses.ts'
import type { FileIndex, FileLists, IndexedFile, ListedFile } from '../../../core/ports/file-index.ts'
import type { CountedFolder, FolderCount } from '../../../core/ports/index/folder-counts.ts'
import type { ListedState } from '../../../core/ports/index/listed-state.ts'
import { derivedBytesOver } from './derived-bytes.ts'
import { type MergeRequest, mergeSorted } from './merge.ts'
import { groupedBy, type Partitions } from './partitions.ts'

type Lists = Pick<
  FileLists,
  | 'filesBetween'
  | 'page'
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
  const { ofClient, ofFile } = partitions
  const each = async <T>(clientId: string, ask: (index: FileIndex) => Promise<T>) =>
    Promise.all((await ofClient(clientId)).map(ask))
  /** As {@link mergeSorted}. The list of a client in one partition needs no merging. */
  const merged = async <T>(clientId: string, request: Omit<MergeRequest<FileIndex, T>, 'lists'>) => {
    const lists = await ofClient(clientId)
    const [first, ...others] = lists
    return first && others.length === 0 ? request.read(first, request) : mergeSorted({ ...request, lists })
  }

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
      const { items, next } = await merged<ListedFile>(clientId, {
        ...request,
        async read(index, range) {
          const page = await index.page(clientId, { ...request, ...range })
          return { items: page.files.map((item) => ({ position: item.position, item })), next: page.next }
        },
      })
      return { files: items.map(({ item }) => item), next }
    },

    async pick(clientId, request) {
      const groups = await groupedBy(request.keys, (key) => ofFile({ clientId, key }))
      const picked = await Promise.all(
        [...groups].map(([index, keys]) => index.pick(clientId, { ...request, keys })),
      )
      const found = new Map(picked.flat().map((file) => [file.record.key, file]))
      return request.keys.flatMap((key) => found.get(key) ?? [])
    },

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
      const wrong = await each(clientId, (index) => index.recount(clientId, options))
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

    async search(clientId, term, { most }) {
      const { length } = await ofClient(clientId)
      // One that has much more than its share is proof enough that there are too many: they are counted, and not read.
      const perPartition = Math.min(most, SEARCH_SPARE + 4 * Math.ceil(most / length))
      const found: ObjectKey[] = []
      for (const keys of await each(clientId, (one) => one.search(clientId, term, { most: perPartition }))) {
        if (!keys || found.length + keys.length > most) return undefined
        found.push(...keys)
      }
      return found
    },
    isSearchable: async (clientId, record) =>
      (await ofFile({ clientId, key: record.key })).isSearchable(clientId, record),

    derivedBytes: derivedBytesOver(partitions),
    async leastUsed(of, limit) {
      const { clientId, key } = of
      if (key !== undefined) return (await ofFile({ clientId, key })).leastUsed(of, limit)
      const used = (await each(clientId, (index) => index.leastUsed(of, limit))).flat()
      return used.sort(byUse).slice(0, limit)
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

/** The order of eviction. */
function byUse({ use: one }: UsedDerivative, { use: other }: UsedDerivative): number {
  return Number(one.isHeld) - Number(other.isHeld) || one.at - other.at
}
