import { createAnnotate } from '../service/files/annotate.ts'
import { createManyFiles } from '../service/files/batch.ts'
import { createCountFiles } from '../service/files/count.ts'
import { createDescribe } from '../service/files/describe.ts'
import { createListFolders } from '../service/files/folders.ts'
import { createList } from '../service/files/list.ts'
import { createCopies } from '../service/moves/copies.ts'
import { createRedirects } from '../service/moves/redirects.ts'
import type { Services } from './services.ts'

/** Lists, changes and batches of stored files. */
export function openFileManagement(services: Services) {
  const { index, buckets, originals, records, removals, trash, originalEvents, clients } = services
  const { admits } = clients
  const list = createList({ index, buckets })
  const redirects = createRedirects({ buckets, originals })
  const storage = { index, buckets, originals, records, removals }
  return {
    list,
    count: createCountFiles({ index }),
    listFolders: createListFolders({ index }),
    many: createManyFiles({ list, removals, trash }),
    describe: createDescribe({ index, buckets, originals }),
    annotate: createAnnotate({ index, originals, records }),
    redirects,
    copies: createCopies({ ...storage, redirects, originalEvents, admits }),
  }
}
