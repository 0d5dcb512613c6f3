import { type Config, streamedMaxBytes } from '../../../config/load.ts'
import { guardedFetcher } from '../../adapters/fetcher/guarded.ts'
import { importSources } from '../../adapters/import-source/open.ts'
import type { Commands } from '../../core/command.ts'
import { createImportCommand } from '../../service/imports/command.ts'
import { createImport } from '../../service/imports/import.ts'
import { createFileImport } from '../../service/imports/import-file.ts'
import { createImportNotes } from '../../service/imports/notes.ts'
import { createRemotes } from '../../service/remote/source.ts'
import { createRemoteUpload } from '../../service/remote/upload.ts'
import { openFileManagement } from '../file-management.ts'
import { fetchAccess } from '../remote-files.ts'
import type { Services } from '../services.ts'
import { s3Options } from '../settings.ts'
import { stateCommands } from '../storage/state-commands.ts'

/** All commands of an operator: those of the services, `migrate-state` and `import`. */
export function operatorCommands(
  services: Services,
  { config, baseUrl }: { config: Config; baseUrl: string },
): Commands {
  const { backends, buckets, originals, upload, presentClient, commands } = services
  const maxBytes = streamedMaxBytes(config)
  // Its own places for fetches: an import takes none from uploads by URL.
  const remotes = createRemotes({ fetcher: guardedFetcher({ access: fetchAccess(config) }) })
  const timeoutMs = config.FETCH_KEEP_TIMEOUT_SECONDS * 1000
  const files = createFileImport({
    notes: createImportNotes({ originals, buckets }),
    upload,
    remoteUpload: createRemoteUpload({ remotes, upload, timeoutMs, maxBytes }),
    locks: backends.locks,
    aliases: openFileManagement(services, { baseUrl }).aliases,
    maxBytes,
  })
  const importAll = createImport({ files, baseUrl })
  const { DATA_DIR: dataDir, S3_BUCKET: bucket } = config
  const openSource = importSources({
    dataDir,
    ...(bucket ? { ownBucket: s3Options(bucket, config) } : {}),
  })
  return {
    ...commands,
    ...stateCommands(backends, config),
    import: createImportCommand({ openSource, importAll, presentClient }),
  }
}
