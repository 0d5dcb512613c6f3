import type { Client } from '../../core/clients/client.ts'
import type { FileLists } from '../../core/ports/file-index.ts'
import type { ListedState } from '../../core/ports/index/listed-state.ts'
import { listedSoon } from './listed-soon.ts'

/**
 * Returns the number of a client's originals in a folder, and below it unless `isDirect`, from the counters of the index.
 *
 * @param request.folder empty: all files; undefined: no files
 * @throws Problem 503, also while the index is being built
 */
export type CountFiles = (request: {
  client: Client
  state: ListedState
  isDirect: boolean | undefined
  folder: string | undefined
  signal: AbortSignal
}) => Promise<number>

export function createCountFiles({ index }: { index: FileLists }): CountFiles {
  return async ({ client, state, isDirect, folder, signal }) => {
    if (folder === undefined) return 0
    await listedSoon(() => index.isCounted(client.id), signal)
    const { files, directFiles } = await index.folderCount(client.id, state, folder)
    return isDirect ? directFiles : files
  }
}
