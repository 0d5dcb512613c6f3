import type { Client } from '../../core/clients/client.ts'
import { isWithin } from '../../core/clients/secret-scope.ts'
import type { FileLists } from '../../core/ports/file-index.ts'
import type { FolderPage } from '../../core/ports/index/folder-counts.ts'
import { listedSoon, notListedYet } from './listed-soon.ts'

/** The folders directly below another one, and the part of their list. */
export interface FoldersRequest {
  client: Client
  /** From `parseFolder`; empty for the top. */
  parent: string
  /** Only files in this folder or below exist for the caller. Empty: all files. */
  scope: string
  /** The name after which the list continues. */
  after?: string | undefined
  /** Maximum number of folders, at least 1. */
  limit: number
  signal: AbortSignal
}

/** Lists the subfolders of a folder, with their counts. @throws Problem 503, also while the index is being built */
export type ListFolders = (request: FoldersRequest) => Promise<FolderPage>

export function createListFolders({ index }: { index: FileLists }): ListFolders {
  /** The only subfolder on the way to the scope, with the files of the scope. */
  async function towardsScope({ client, parent, scope, after }: FoldersRequest): Promise<FolderPage> {
    const start = parent === '' ? 0 : parent.length + 1
    const end = scope.indexOf('/', start)
    const folder = end === -1 ? scope : scope.slice(0, end)
    const { directFiles, ...count } = await index.folderCount(client.id, 'stored', scope)
    const isListed = count.files > 0 && after === undefined
    const listed = { folder, ...count, directFiles: folder === scope ? directFiles : 0 }
    return { folders: isListed ? [listed] : [], next: undefined }
  }

  async function read(request: FoldersRequest): Promise<FolderPage> {
    const { client, parent, scope, after, limit } = request
    if (parent !== scope && isWithin(scope, parent)) return towardsScope(request)
    if (!isWithin(parent, scope)) return { folders: [], next: undefined }
    return index.subfolders(client.id, { parent, limit, ...(after === undefined ? {} : { after }) })
  }

  return async (request) => {
    const isCounted = () => index.isCounted(request.client.id)
    await listedSoon(isCounted, request.signal)
    const page = await read(request)
    // The index may have been emptied or replaced since then.
    if (!(await isCounted())) throw notListedYet()
    return page
  }
}
