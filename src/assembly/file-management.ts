import { createAliasRecords } from '../service/aliases/alias-records.ts'
import { createAliases, createDescribeAlias } from '../service/aliases/aliases.ts'
import { createListAliases } from '../service/aliases/list.ts'
import { createAnnotate } from '../service/files/annotate.ts'
import { createManyFiles } from '../service/files/batch.ts'
import { createCountFiles } from '../service/files/count.ts'
import { createDescribe } from '../service/files/describe.ts'
import { createListFolders } from '../service/files/folders.ts'
import { createList } from '../service/files/list.ts'
import { createCopies } from '../service/moves/copies.ts'
import { createRedirects } from '../service/moves/redirects.ts'
import type { Services } from './services.ts'

/** Lists, changes and batches of stored files, and aliases of them. @param baseUrl without a trailing slash */
export function openFileManagement(services: Services, { baseUrl }: { baseUrl: string }) {
  const { backends, index, buckets, originals, records, removals, trash, scans, events, originalEvents } =
    services
  const { admits } = services.clients
  const list = createList({ index, buckets })
  const aliasRecords = createAliasRecords({ buckets, locks: backends.locks })
  const redirects = createRedirects({ buckets, originals })
  const describeAlias = createDescribeAlias({ originals, redirects })
  const storage = { index, buckets, originals, records, removals }
  return {
    list,
    count: createCountFiles({ index }),
    listFolders: createListFolders({ index }),
    many: createManyFiles({ list, removals, trash }),
    describe: createDescribe({ index, buckets, originals }),
    annotate: createAnnotate({ index, originals, records }),
    aliases: createAliases({
      records: aliasRecords,
      originals,
      redirects,
      describe: describeAlias,
      events,
      baseUrl,
    }),
    listAliases: createListAliases({ buckets, records: aliasRecords, describe: describeAlias }),
    redirects,
    copies: createCopies({ ...storage, scans, redirects, originalEvents, admits }),
  }
}
