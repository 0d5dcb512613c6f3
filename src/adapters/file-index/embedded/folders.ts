import { enclosingFolders, folderName, folderOfKey, parentFolder } from '../../../core/files/folder.ts'
import { storedKey } from '../../../core/files/object-key.ts'
import {
  type FolderCount,
  type FolderCounts,
  NOTHING_COUNTED,
} from '../../../core/ports/index/folder-counts.ts'
import type { ListedState } from '../../../core/ports/index/listed-state.ts'
import type { ResilientLevel, Row } from '../../level/resilient-level.ts'
import { row, under } from '../rows.ts'

/** A change of the list of a client's originals by key. The size is undefined when the original is not in the list. */
export interface ListChange {
  clientId: string
  state: ListedState
  position: string
  before: number | undefined
  after: number | undefined
}

/** Sums by the names of their rows. */
export type Counts = Map<string, FolderCount>

/** The name of a folder's row: `f client state parent name`. The top has an empty parent and an empty name. */
function folderRow(clientId: string, state: ListedState, folder: string): string {
  return row('f', clientId, state, parentFolder(folder), folderName(folder))
}

/** The state and the folder that a row of {@link folderRow} is about. */
export function folderOfRow(name: string): { state: ListedState; folder: string } {
  const [, , state, parent = '', last = ''] = name.split('\0')
  return { state: state as ListedState, folder: parent === '' ? last : `${parent}/${last}` }
}

/** Adds changes to sums, which may become negative. */
export function addTo(counts: Counts, changes: readonly ListChange[]): void {
  for (const { clientId, state, position, before, after } of changes) {
    const files = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
    const bytes = (after ?? 0) - (before ?? 0)
    if (files === 0 && bytes === 0) continue
    const own = folderOfKey(storedKey(position))
    for (const folder of enclosingFolders(own)) {
      const name = folderRow(clientId, state, folder)
      const sum = counts.get(name) ?? NOTHING_COUNTED
      counts.set(name, {
        files: sum.files + files,
        bytes: sum.bytes + bytes,
        directFiles: sum.directFiles + (folder === own ? files : 0),
      })
    }
  }
}

/** The rows that store counters. A folder without files has no row. */
export function countRows(counts: Counts): Row[] {
  return [...counts].map(([key, value]) =>
    value.files > 0 ? { type: 'put', key, value } : { type: 'del', key },
  )
}

/** The rows that add sums to the stored counters. */
export async function addedRows(level: ResilientLevel, sums: Counts): Promise<Row[]> {
  const names = [...sums.keys()]
  const known = (await level.get(names)) as Array<FolderCount | undefined>
  const counts: Counts = new Map()
  for (const [i, name] of names.entries()) {
    const [one, other] = [known[i] ?? NOTHING_COUNTED, sums.get(name) ?? NOTHING_COUNTED]
    counts.set(name, {
      files: one.files + other.files,
      bytes: one.bytes + other.bytes,
      directFiles: one.directFiles + other.directFiles,
    })
  }
  return countRows(counts)
}

/** Reads counters of folders. */
export function folderReads(level: ResilientLevel): Pick<FolderCounts, 'folderCount' | 'subfolders'> {
  return {
    async folderCount(clientId, state, folder) {
      const [known] = (await level.get([folderRow(clientId, state, folder)])) as Array<
        FolderCount | undefined
      >
      return known ?? NOTHING_COUNTED
    },
    async subfolders(clientId, { parent, after, limit }) {
      const level0 = row('f', clientId, 'stored', parent)
      const { gt, lt } = under(level0)
      const rows = await level.rows({ gt: after === undefined ? gt : row(level0, after), lt, limit })
      const folders = rows.map(([name, count]) => ({
        folder: folderOfRow(name).folder,
        ...(count as FolderCount),
      }))
      const last = folders.at(-1)
      return { folders, next: rows.length < limit || !last ? undefined : folderName(last.folder) }
    },
  }
}
