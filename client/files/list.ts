import type { FileList, File as ListedFile } from '../generated/api.ts'
import type { Api, CallOptions } from '../http/request.ts'
import { itemsOf } from './pages.ts'

type Sort = 'uploaded' | 'key' | 'name' | 'size'

/** Which files a list has, and in which order. */
export interface ListOptions extends CallOptions {
  /** A folder: only files in it or below. */
  prefix?: string
  /** Only files in the folder itself, not below it. */
  direct?: boolean
  type?: ListedFile['mimeType']
  tag?: string
  /** A part of the original name. */
  search?: string
  /** Only files stored on this day or later, in UTC: `2026-11-24`. */
  from?: string
  /** Only files stored on this day or earlier. */
  to?: string
  /** Default: `-uploaded`, the newest first. */
  sort?: Sort | `-${Sort}`
  /** Files per page, from 1 to 1000. Default: 100. */
  limit?: number
  /** Whether the page has `total`, the number of files in all pages. Only without `type`, `tag`, `search`, `from` and `to`. */
  count?: boolean
  /** Deleted files that can be restored, instead of existing ones. */
  deleted?: boolean
}

/** Requests one page. */
export function listPage(
  api: Api,
  { signal, ...query }: ListOptions & { cursor?: string | undefined } = {},
): Promise<FileList> {
  return api.json({ path: '/v1/files', query, signal })
}

/** Requests page after page. */
export function listAll(api: Api, options: ListOptions = {}): AsyncGenerator<ListedFile, void> {
  return itemsOf(async (cursor) => {
    const page = await listPage(api, { ...options, cursor })
    return { items: page.files, cursor: page.cursor }
  })
}
