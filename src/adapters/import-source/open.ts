import { stat } from 'node:fs/promises'
import type { OpenImportSource } from '../../core/imports/source.ts'
import { exportSource } from './export-file.ts'
import { folderSource } from './folder.ts'

/** Opens a folder, an export file, or a bucket of S3. @param options.dataDir the service's own folder, which is not imported */
export function importSources(options: { dataDir: string }): OpenImportSource {
  return async (origin) => {
    if ('s3' in origin) {
      // Loaded on demand: the SDK takes 25 MB of memory.
      const { s3Source } = await import('./s3.ts')
      return s3Source(origin.s3)
    }
    const { path } = origin
    const found = await stat(path)
    if (found.isDirectory()) return folderSource(path, options)
    if (found.isFile()) return exportSource(path)
    throw new Error(`${path} is neither a folder nor a file`)
  }
}
