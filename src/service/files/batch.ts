import { mapAtOnce } from '../../core/async/map-concurrent.ts'
import type { Client } from '../../core/clients/client.ts'
import type { PathMeanings } from '../../core/files/request-path.ts'
import type { ListedState } from '../../core/ports/file-index.ts'
import { Problem } from '../../core/problem.ts'
import type { Removals } from '../originals/delete.ts'
import type { FoundOriginal } from '../originals/originals.ts'
import type { Removed } from '../originals/removed.ts'
import type { Trashing } from '../originals/trash.ts'
import type { List } from './list.ts'

/** What came of one file; `path` as it was asked for. */
export interface Outcome<T> {
  path: string
  done: T | Problem
}

export interface NamedPath {
  path: string
  meanings: PathMeanings | Problem
}

/** Many files of a client at once; what is done stays done when the caller leaves. */
export interface ManyFiles {
  remove(request: ManyRequest & { how?: 'for good' | undefined }): Promise<Outcome<Removed>[]>
  /** All in a folder and those below it, or the first so many. @returns also whether there are more */
  removeFolder(request: {
    client: Client
    folder: string
    limit: number
    how?: 'for good' | undefined
    signal: AbortSignal
  }): Promise<{ outcomes: Outcome<Removed>[]; more: boolean }>
  restore(request: ManyRequest): Promise<Outcome<FoundOriginal>[]>
}

interface ManyRequest {
  client: Client
  paths: readonly NamedPath[]
  signal: AbortSignal
}

// Enough to hide the way to S3 and back, few enough that deliveries do not feel it.
const AT_ONCE = 8

export function createManyFiles({
  list,
  removals,
  trash,
}: {
  list: List
  removals: Removals
  trash: Trashing
}): ManyFiles {
  async function each<T>(
    { paths, signal }: Pick<ManyRequest, 'paths' | 'signal'>,
    work: (meanings: PathMeanings) => Promise<T>,
  ): Promise<Outcome<T>[]> {
    const one = async ({ path, meanings }: NamedPath): Promise<Outcome<T>> => ({
      path,
      done:
        meanings instanceof Problem ? meanings : await work(meanings).catch((error) => expectProblem(error)),
    })
    const outcomes: Outcome<T>[] = []
    for await (const outcome of mapAtOnce(paths, { atOnce: AT_ONCE, signal, work: one }))
      outcomes.push(outcome)
    return outcomes
  }

  return {
    remove: ({ client, how, ...request }) =>
      each(request, (meanings) => removals.remove(client, meanings, how)),
    restore: ({ client, ...request }) => each(request, (meanings) => trash.restore(client, meanings)),

    async removeFolder({ client, folder, limit, how, signal }) {
      const states: ListedState[] = how === 'for good' ? ['stored', 'trashed'] : ['stored']
      const outcomes: Outcome<Removed>[] = []
      for (const state of states)
        for (let after: string | undefined; ; ) {
          if (outcomes.length === limit) return { outcomes, more: true }
          const part = await list({
            ...{ client, state, folder, after, signal },
            ...{ by: 'key', direction: 'up', limit: limit - outcomes.length },
          })
          const paths = part.files.map(({ name }) => ({ path: name.key, meanings: { full: name } }))
          outcomes.push(
            ...(await each({ paths, signal }, (meanings) => removals.remove(client, meanings, how))),
          )
          after = part.next
          if (after === undefined) break
        }
      return { outcomes, more: false }
    },
  }
}

function expectProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}
