import type { Log } from '../core/log.ts'
import { type Archive, createArchive } from '../service/archive/archive.ts'
import { createChecksums } from '../service/archive/checksums.ts'
import { type ArchiveLinks, createArchiveLinks } from '../service/archive/links.ts'
import { createReadAhead } from '../service/archive/read-ahead.ts'
import { createArchiveSources } from '../service/archive/sources.ts'
import { createLayOutArchive, type LayOutArchive } from '../service/archive/stored-archive.ts'
import { createFindStored } from '../service/archive/stored-files.ts'
import type { Deliveries } from '../service/delivery/deliveries.ts'
import { createAnnotate } from '../service/files/annotate.ts'
import type { Services } from './services.ts'

// Of all archives together. A file that does not fit is opened in its turn, like a large file.
const READ_AHEAD_BYTES = 32 * 1024 * 1024

/** Everything that sends archives. */
export interface Archives {
  archive: Archive
  layOutArchive: LayOutArchive
  archiveLinks: ArchiveLinks
}

/** Creates what sends archives of files. */
export function openArchives(
  { backends, events, clients, index, originals, records }: Services,
  { deliveries, log }: { deliveries: Deliveries; log: Log },
): Archives {
  const checksums = createChecksums({ index, annotate: createAnnotate({ index, originals, records }), log })
  const sources = createArchiveSources({ deliveries, checksums, log })
  const findStored = createFindStored({ sources, checksums })
  const newReadAhead = createReadAhead({ maxBytes: READ_AHEAD_BYTES })
  return {
    archive: createArchive({ sources, events, newReadAhead }),
    layOutArchive: createLayOutArchive({ sources, findStored, events, newReadAhead }),
    archiveLinks: createArchiveLinks({ ledger: backends.ledger, clients }),
  }
}
