import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { Client } from '../../core/clients/client.ts'
import type { PathCandidates } from '../../core/files/request-path.ts'
import type { ListedState } from '../../core/ports/index/listed-state.ts'
import { Problem } from '../../core/problem.ts'
import type { Removals } from '../originals/delete.ts'
import type { FoundOriginal } from '../originals/originals.ts'
import type { Removed } from '../originals/removed.ts'
import type { SoftDeletes } from '../originals/trash.ts'
import type { List } from './list.ts'

/** The outcome for one file. `path` is the requested one. */
export interface Outcome<T> {
  path: string
  done: T | Problem
}

/** A requested path, with its meaning or the reason why it is invalid. */
export interface NamedPath {
  path: string
  meanings: PathCandidates | Problem
}

/** Operations on many files of a client. Completed parts stay done when the caller disconnects. */
export interface ManyFiles {
  remove(request: ManyRequest & { isPermanent?: boolean }): Promise<Outcome<Removed>[]>
  /** Deletes all files in a folder and its subfolders, at most `limit`. @returns also whether there are more */
  removeFolder(request: {
    client: Client
    folder: string
    limit: number
    isPermanent?: boolean
    signal: AbortSignal
  }): Promise<{ outcomes: Outcome<Removed>[]; more: boolean }>
  restore(request: ManyRequest): Promise<Outcome<FoundOriginal>[]>
}

interface ManyRequest {
  client: Client
  paths: readonly NamedPath[]
  signal: AbortSignal
}

// Enough to hide the latency of S3, few enough that deliveries are not slowed down.
const CONCURRENCY = 8

export function createManyFiles({
  list,
  removals,
  trash,
}: {
  list: List
  removals: Removals
  trash: SoftDeletes
}): ManyFiles {
  function each<T>(
    { paths, signal }: Pick<ManyRequest, 'paths' | 'signal'>,
    work: (meanings: PathCandidates) => Promise<T>,
  ): Promise<Outcome<T>[]> {
    const one = async ({ meanings }: NamedPath) => {
      if (meanings instanceof Problem) throw meanings
      return work(meanings)
    }
    return outcomesOf(paths, { concurrency: CONCURRENCY, signal, work: one })
  }

  return {
    remove: ({ client, isPermanent, ...request }) =>
      each(request, (meanings) => removals.remove(client, meanings, isPermanent)),
    restore: ({ client, ...request }) => each(request, (meanings) => trash.restore(client, meanings)),

    async removeFolder({ client, folder, limit, isPermanent, signal }) {
      const states: ListedState[] = isPermanent ? ['stored', 'trashed'] : ['stored']
      const outcomes: Outcome<Removed>[] = []
      for (const state of states)
        for (let after: string | undefined; ; ) {
          if (outcomes.length === limit) return { outcomes, more: true }
          const part = await list({
            client,
            state,
            folder,
            after,
            signal,
            by: 'key',
            direction: 'up',
            limit: limit - outcomes.length,
          })
          const paths = part.files.map(({ name }) => ({ path: name.key, meanings: { full: name } }))
          outcomes.push(
            ...(await each({ paths, signal }, (meanings) => removals.remove(client, meanings, isPermanent))),
          )
          after = part.next
          if (after === undefined) break
        }
      return { outcomes, more: false }
    },
  }
}

/** The outcome of `work` for each item. A problem of one item does not affect the others. @throws other errors, `signal.reason` */
export async function outcomesOf<P extends { path: string }, T>(
  items: readonly P[],
  { work, ...options }: { concurrency: number; signal: AbortSignal; work: (item: P) => Promise<T> },
): Promise<Outcome<T>[]> {
  const one = async (item: P): Promise<Outcome<T>> => ({
    path: item.path,
    done: await work(item).catch((error) => expectProblem(error)),
  })
  const outcomes: Outcome<T>[] = []
  for await (const outcome of mapConcurrent(items, { ...options, work: one })) outcomes.push(outcome)
  return outcomes
}

function expectProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}
