import type { Client } from '../core/clients/client.ts'
import type { Log } from '../core/log.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import type { Ledger } from '../core/ports/ledger.ts'
import { type Archive, createArchive } from '../service/archive/archive.ts'
import { type ArchiveLinks, createArchiveLinks } from '../service/archive/links.ts'
import { createReadAhead } from '../service/archive/read-ahead.ts'
import { createArchiveSources } from '../service/archive/sources.ts'
import { createLayOutArchive, type LayOutArchive } from '../service/archive/stored-archive.ts'
import type { Deliveries } from '../service/delivery/deliveries.ts'

// Of all archives together. A file that does not fit is opened in its turn, like a large file.
const READ_AHEAD_BYTES = 32 * 1024 * 1024

/** Everything that sends archives. */
export interface Archives {
  archive: Archive
  layOutArchive: LayOutArchive
  archiveLinks: ArchiveLinks
}

/** Creates what sends archives of files. */
export function openArchives({
  deliveries,
  events,
  ledger,
  findClient,
  log,
}: {
  deliveries: Deliveries
  events: EventBus
  ledger: Ledger
  findClient: (id: string) => Client | undefined
  log: Log
}): Archives {
  const sources = createArchiveSources({ deliveries, log })
  const newReadAhead = createReadAhead({ maxBytes: READ_AHEAD_BYTES })
  return {
    archive: createArchive({ sources, events, newReadAhead }),
    layOutArchive: createLayOutArchive({ sources, events, newReadAhead }),
    archiveLinks: createArchiveLinks({ ledger, findClient }),
  }
}
