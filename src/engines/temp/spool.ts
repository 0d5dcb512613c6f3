import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Spool } from '../../core/ports/spool.ts'
import { unavailable } from '../../core/problem.ts'
import { assetOfFile } from './file-asset.ts'
import { isFull, type Scratch } from './scratch.ts'

/** Keeps what is fetched in folders of `scratch`, each by itself. */
export function createSpool(scratch: Scratch): Spool {
  return async (bytes, { mediaType, signal }) => {
    const { folder, remove } = await scratch.newFolder()
    try {
      const path = join(folder, 'source')
      await pipeline(bytes, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal })
      return { asset: await assetOfFile(path, { mediaType }), remove }
    } catch (error) {
      await remove()
      signal.throwIfAborted()
      throw isFull(error)
        ? unavailable('The disk has no space to work on this file.', { cause: error })
        : error
    }
  }
}
