import type { Client } from '../core/clients/client.ts'
import type { Log } from '../core/log.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import type { Ledger } from '../core/ports/ledger.ts'
import { type Archive, createArchive } from '../service/archive/archive.ts'
import { type ArchiveLinks, createArchiveLinks } from '../service/archive/links.ts'
import { createArchiveSources } from '../service/archive/sources.ts'
import { createLayOutArchive, type LayOutArchive } from '../service/archive/stored-archive.ts'
import type { Deliveries } from '../service/delivery/deliveries.ts'

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
  return {
    archive: createArchive({ sources, events }),
    layOutArchive: createLayOutArchive({ sources, events }),
    archiveLinks: createArchiveLinks({ ledger, findClient }),
  }
}
