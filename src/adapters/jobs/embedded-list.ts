import { type JobQuery, JobRemoved, type Jobs, type ListedJob } from '../../core/ports/jobs.ts'
import type { OpenJob } from './embedded-line.ts'
import { type JobRow, type JobTable, nameOf, statusOf } from './embedded-table.ts'
import { countOpen, isAfter, newestFirst } from './rules.ts'

/** Counts, lists and removals of jobs. */
export function createEmbeddedList({
  table,
  openJobs,
  checkOpen,
}: {
  table: JobTable
  /** By name. */
  openJobs: Map<string, OpenJob>
  /** @throws Problem 503 when the queue is closed */
  checkOpen: () => void
}): Pick<Jobs, 'find' | 'list' | 'remove' | 'openOf' | 'counts'> {
  const statusOfOpen = ({ state, attempts, progress }: OpenJob) => ({ state, attempts, progress })

  /** What is stored; the status of an open job is in memory. */
  function listed(ref: Pick<ListedJob, 'kind' | 'id'>, row: JobRow | undefined): ListedJob | undefined {
    const open = openJobs.get(nameOf(ref))
    const status = open ? statusOfOpen(open) : statusOf(row)
    if (!row || !status) return undefined
    const createdAt = row.createdAt ?? ('endedAt' in row ? row.endedAt : row.dueAt)
    return { ...ref, status, createdAt, ...('endedAt' in row ? { endedAt: row.endedAt } : {}) }
  }

  const openOfKind = (kind: string) => [...openJobs.values()].filter(({ ref }) => ref.kind === kind)

  const find: Jobs['find'] = async (ref) => {
    checkOpen()
    const row = await table.find(ref)
    const job = listed(ref, row)
    return job && row && 'data' in row ? { ...job, data: row.data } : undefined
  }

  return {
    find,

    async list({ kind, client, state, after, limit }: JobQuery) {
      checkOpen()
      const open = openOfKind(kind).filter(({ owner }) => owner?.client === client)
      const isOpen = new Set(open.map(({ ref }) => ref.id))
      const page = [
        ...open.map(({ ref, state: now, createdAt }) => ({ ...ref, state: now, createdAt })),
        ...table.endedOf(kind, client).filter(({ id }) => !isOpen.has(id)),
      ]
        .filter((job) => (state === undefined || job.state === state) && isAfter(job, after))
        .sort(newestFirst)
        .slice(0, limit)
      const jobs = await Promise.all(
        page.map(async ({ state: _, createdAt, ...ref }) => listed(ref, await table.find(ref))),
      )
      // A job may have been removed since.
      return jobs.filter((job) => job !== undefined)
    },

    async remove(ref) {
      const name = nameOf(ref)
      await openJobs.get(name)?.stored.catch(() => {})
      const job = await find(ref)
      // From here on, nothing is awaited before the write: a job that begins in between would be deleted from the disk alone.
      const open = openJobs.get(name)
      open?.removal.abort(new JobRemoved())
      // The attempt ends within seconds, and removes it.
      if (open?.state === 'running') return job
      openJobs.delete(name)
      await table.remove(ref)
      return job
    },

    async openOf(kind, owner) {
      checkOpen()
      const ofClient = openOfKind(kind).filter((job) => job.owner?.client === owner.client)
      return countOpen(
        ofClient.map((job) => job.owner?.stranger),
        owner,
      )
    },

    async counts(kind) {
      checkOpen()
      const open = openOfKind(kind)
      const running = open.filter(({ state }) => state === 'running').length
      return { waiting: open.length - running, running }
    },
  }
}
