import type { ObjectKey } from '../../../core/files/object-key.ts'
import type { DerivativeUses, UsedDerivative } from '../../../core/ports/derivative-uses.ts'
import type { FileIndex, FileLists, ListedFile, Totals } from '../../../core/ports/file-index.ts'
import type { CountedFolder, FolderCount } from '../../../core/ports/index/folder-counts.ts'
import { LISTED_STATES } from '../positions.ts'
import { type MergeRequest, mergeSorted } from './merge.ts'
import { groupedBy, type Partitions } from './partitions.ts'

type Lists = Pick<
  FileLists,
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

/** Lists, counts and searches over the partitions of a client. */
export function partitionedLists({ ofClient, ofFile }: Partitions): Lists {
  const each = async <T>(clientId: string, ask: (index: FileIndex) => Promise<T>) =>
    Promise.all((await ofClient(clientId)).map(ask))
  /** As {@link mergeSorted}. The list of a client in one partition needs no merging. */
  const merged = async <T>(clientId: string, request: Omit<MergeRequest<FileIndex, T>, 'lists'>) => {
    const lists = await ofClient(clientId)
    const [first, ...others] = lists
    return first && others.length === 0
      ? request.read(first, { after: request.after, limit: request.limit })
      : mergeSorted({ ...request, lists })
  }

  return {
    async page(clientId, request) {
      const { items, next } = await merged<ListedFile>(clientId, {
        ...request,
        after: request.after,
        async read(index, { after, limit }) {
          const { after: _, ...rest } = request
          const page = await index.page(clientId, {
            ...rest,
            ...(after === undefined ? {} : { after }),
            limit,
          })
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
      const sum = {} as Totals
      for (const state of LISTED_STATES)
        sum[state] = {
          files: totals.reduce((files, one) => files + one[state].files, 0),
          bytes: totals.reduce((bytes, one) => bytes + one[state].bytes, 0),
        }
      return sum
    },

    async folderCount(clientId, state, folder) {
      const counts = await each(clientId, (index) => index.folderCount(clientId, state, folder))
      return counts.reduce(added)
    },

    async subfolders(clientId, { parent, after, limit }) {
      const { items, next } = await merged<CountedFolder>(clientId, {
        after,
        limit,
        combine: (one, other) => ({ ...one, ...added(one, other) }),
        async read(index, range) {
          const { after: from, limit: most } = range
          const options = { parent, limit: most, ...(from === undefined ? {} : { after: from }) }
          const page = await index.subfolders(clientId, options)
          const items = page.folders.map((item) => ({
            position: item.folder.slice(item.folder.lastIndexOf('/') + 1),
            item,
          }))
          return { items, next: page.next }
        },
      })
      return { folders: items.map(({ item }) => item), next }
    },

    async recount(clientId, options) {
      const wrong = await each(clientId, (index) => index.recount(clientId, options))
      return [...new Map(wrong.flat().map((one) => [`${one.state}/${one.folder}`, one])).values()]
    },

    async directKeys(clientId, request) {
      const { items } = await merged<ObjectKey>(clientId, {
        ...request,
        after: request.after,
        async read(index, { after, limit }) {
          const { after: _, ...rest } = request
          const keys = await index.directKeys(clientId, {
            ...rest,
            ...(after === undefined ? {} : { after }),
            limit,
          })
          const items = keys.map((item) => ({ position: item as string, item }))
          return { items, next: keys.length < limit ? undefined : keys.at(-1) }
        },
      })
      return items.map(({ item }) => item)
    },

    async search(clientId, term, options) {
      const found: ObjectKey[] = []
      for (const keys of await each(clientId, (index) => index.search(clientId, term, options))) {
        if (!keys || found.length + keys.length > options.most) return undefined
        found.push(...keys)
      }
      return found
    },
    isSearchable: async (clientId, record) =>
      (await ofFile({ clientId, key: record.key })).isSearchable(clientId, record),

    async derivedBytes(ref) {
      const sums = await each(ref.clientId, (index) => index.derivedBytes(ref))
      return {
        client: sums.reduce((sum, { client }) => sum + client, 0),
        // The other partitions have none of this original.
        original: sums.reduce((sum, { original }) => sum + original, 0),
      }
    },
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
