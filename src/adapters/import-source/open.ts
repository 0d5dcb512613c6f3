import { stat } from 'node:fs/promises'
import type { OpenImportSource } from '../../core/imports/source.ts'
import { exportSource } from './export-file.ts'
import { folderSource } from './folder.ts'
import type { OwnBucket } from './own-objects.ts'

/**
 * Opens a folder, an export file, or a bucket of S3.
 *
 * @param options.dataDir the service's own folder, which is not imported
 * @param options.ownBucket the service's own bucket in S3, if it has one: its objects are not imported
 */
export function importSources(options: { dataDir: string; ownBucket?: OwnBucket }): OpenImportSource {
  return async (origin) => {
    if ('s3' in origin) {
      // Loaded on demand: the SDK takes 25 MB of memory.
      const { s3Source } = await import('./s3.ts')
      return s3Source(origin.s3, options)
    }
    const { path } = origin
    const found = await stat(path)
    if (found.isDirectory()) return folderSource(path, options)
    if (found.isFile()) return exportSource(path)
    throw new Error(`${path} is neither a folder nor a file`)
  }
}
