import type { Api, CallOptions } from '../http/request.ts'
import type { ListedFile, MediaGroup } from '../records.ts'

/** Which files a list has, and in which order. */
export interface ListOptions extends CallOptions {
  /** A folder: only files in it or below. */
  prefix?: string
  type?: MediaGroup
  tag?: string
  /** A part of the original name. */
  search?: string
  /** Default: `-uploaded`, the newest first. */
  sort?: 'uploaded' | '-uploaded' | 'key' | '-key'
  /** Files per page, from 1 to 1000. Default: 100. */
  limit?: number
  /** Deleted files that can be restored, instead of existing ones. */
  deleted?: boolean
}

/** A page of a list. It may have fewer files than requested, or no files, while there is a cursor. */
export interface FilePage {
  files: ListedFile[]
  /** For the next page. Null: this is the last one. */
  cursor: string | null
}

/** Requests one page. */
export function listPage(
  api: Api,
  { signal, ...query }: ListOptions & { cursor?: string | undefined } = {},
): Promise<FilePage> {
  return api.json({ path: '/v1/files', query, signal })
}

/** Requests page after page. */
export async function* listAll(api: Api, options: ListOptions = {}): AsyncGenerator<ListedFile, void> {
  for (let cursor: string | undefined; ; ) {
    const page = await listPage(api, { ...options, cursor })
    yield* page.files
    if (page.cursor === null) return
    cursor = page.cursor
  }
}
