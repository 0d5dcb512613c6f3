import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Spool } from '../../core/ports/spool.ts'
import { assetOfFile } from './file-asset.ts'
import { type Scratch, scratchProblem } from './scratch.ts'

/** Creates a spool that stores each download in a folder of its own in `scratch`. */
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
      throw scratchProblem(error)
    }
  }
}
