import { parseExistingFolder } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { FileLists } from '../../core/ports/file-index.ts'
import { noSuchClient } from '../clients/change-existing.ts'
import type { RemoveDerivatives } from './remove.ts'

/** The result of a delete of derivatives by the operator. */
export interface DeletedDerivatives {
  originals: number
  derivatives: number
  bytes: number
}

/**
 * @param request.path of an original; of a folder, with a trailing slash; `/` for all files
 * @param request.before only those that were stored before this time, in milliseconds since 1970
 * @throws Problem 400, 404, 503
 */
export type DeleteDerivatives = (
  request: { clientId: string; path: string; before?: number | undefined },
  signal: AbortSignal,
) => Promise<DeletedDerivatives>

const PAGE = 100

/** Deletes the derivatives of one original, of all originals in a folder and its subfolders, or of all originals. */
export function createDeleteDerivatives({
  index,
  store,
  removeDerivatives,
}: {
  index: FileLists
  store: ClientStore
  removeDerivatives: RemoveDerivatives
}): DeleteDerivatives {
  return async ({ clientId, path, before }, signal) => {
    const client = store.find(clientId)
    if (!client) throw noSuchClient(clientId)
    const deleted: DeletedDerivatives = { originals: 0, derivatives: 0, bytes: 0 }
    const remove = async (one: string) => {
      const { derivatives, bytes } = await removeDerivatives(client, parsePath(one), { before })
      deleted.originals += 1
      deleted.derivatives += derivatives
      deleted.bytes += bytes
    }
    if (!path.endsWith('/')) {
      await remove(path)
      return deleted
    }
    const inFolder = path === '/' ? {} : { prefix: `${parseExistingFolder(path.slice(0, -1))}/` }
    for (let after: string | undefined; ; ) {
      const request = { state: 'stored', by: 'key', ...inFolder, limit: PAGE } as const
      const page = await index.page(clientId, after === undefined ? request : { ...request, after })
      for (const { record } of page.files) {
        signal.throwIfAborted()
        await remove(record.key)
      }
      if (page.next === undefined) return deleted
      after = page.next
    }
  }
}
