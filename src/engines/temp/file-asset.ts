import { open, stat } from 'node:fs/promises'
import type { Asset } from '../../core/bytes/asset.ts'

/** Creates an asset for a complete file. @param path absolute */
export async function assetOfFile(path: string, { mediaType }: Pick<Asset, 'mediaType'>): Promise<Asset> {
  const { size, mtime } = await stat(path)
  return {
    size,
    mediaType,
    lastModified: mtime,
    file: path,
    async open({ range, signal } = {}) {
      signal?.throwIfAborted()
      const handle = await open(path)
      return handle.createReadStream({ ...range, ...(signal ? { signal } : {}) })
    },
  }
}
