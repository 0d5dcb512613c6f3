import type { Folder, FolderList } from '../generated/api.ts'
import type { Api, CallOptions } from '../http/request.ts'
import { itemsOf } from './pages.ts'

/** Which folders a list has. */
export interface FolderListOptions extends CallOptions {
  /** The folder whose folders are listed. Default: the top level. */
  prefix?: string
  /** Folders per page, from 1 to 1000. Default: 100. */
  limit?: number
}

/** The folders of a client. All calls reject with a {@link SluiceError}. */
export interface Folders {
  /** The folders directly below a folder, sorted by name, page by page as they are needed. */
  list(options?: FolderListOptions): AsyncIterableIterator<Folder>
}

/** Creates the calls for folders. */
export function createFolders(api: Api): Folders {
  return {
    list: ({ signal, ...options } = {}) =>
      itemsOf(async (cursor) => {
        const request = { path: '/v1/folders', query: { ...options, cursor }, signal }
        const page = await api.json<FolderList>(request)
        return { items: page.folders, cursor: page.cursor }
      }),
  }
}
