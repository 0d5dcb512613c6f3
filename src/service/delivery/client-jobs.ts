import { QUEUE_CALLER } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import { derivativeKey, type ObjectKey, type OriginalName, parseKey } from '../../core/files/object-key.ts'
import type { JobQuery, Jobs, ListedJob } from '../../core/ports/jobs.ts'
import { Problem } from '../../core/problem.ts'
import type { Plan, Planner } from '../../pipeline/plan/plan.ts'
import type { Derivations } from '../derivatives/derivations.ts'
import type { FoundOriginal, Originals } from '../originals/originals.ts'
import { MEDIA_KINDS, type MediaJobs, type MediaKind, mediaJobRef, type QueuedMedia } from './media-job.ts'

/** A media job of a client. Times are in milliseconds since 1970. */
export interface ClientJob extends Pick<ListedJob, 'status' | 'createdAt' | 'endedAt'> {
  /** The key of the derivative. It names the job. */
  key: ObjectKey
  original: OriginalName
}

/** The media jobs of a client, for its own people. */
export interface ClientJobs {
  /**
   * The newest first. Jobs that are done are listed for ten minutes, failed ones for seven days.
   * @throws Problem 503
   */
  list(client: Client, query: ClientJobQuery): Promise<ClientJob[]>
  /**
   * Begins a failed job again, with all of its attempts. When this throws, the job remains in the list.
   * @throws Problem 404 when it does not exist; 409 when it has not failed, or when its URL now means another derivative; 429, 503
   */
  retry(client: Client, key: ObjectKey): Promise<ClientJob>
  /**
   * Removes a job. A running one ends within seconds, a waiting one never begins, and one that has ended is not listed any more. The
   * next request for its URL begins it again.
   *
   * @throws Problem 404 when it does not exist, 503
   */
  cancel(client: Client, key: ObjectKey): Promise<void>
}

type JobPlace = NonNullable<JobQuery['after']>

/** A page of jobs. */
export interface ClientJobQuery extends Pick<JobQuery, 'state' | 'limit'> {
  after?: Pick<ClientJob, 'key' | 'createdAt'> | undefined
}

export function createClientJobs({
  jobs,
  media,
  originals,
  derivations,
  plan,
}: {
  jobs: Jobs
  media: Pick<MediaJobs, 'begin'>
  originals: Pick<Originals, 'resolve'>
  derivations: Pick<Derivations, 'release'>
  plan: Planner
}): ClientJobs {
  /** The plan that the job's query has today. @throws Problem 409 */
  function planAgain(
    { query, preferences, derivative }: QueuedMedia,
    { client, found }: { client: Client; found: FoundOriginal },
  ): Plan {
    const { format, key } = found.name
    try {
      const { focalPoint } = found.record
      const planned = plan({ query, format, preferences, rules: client.rules, focalPoint })
      if (derivativeKey(key, planned.variant) === derivative) return planned
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error
    }
    throw new Problem({
      status: 409,
      code: 'job_outdated',
      detail: 'Plugins, presets or rules have changed since then. Request the delivery URL.',
    })
  }

  async function shown(client: Client, key: ObjectKey): Promise<ClientJob> {
    const job = await jobs.find(mediaJobRef(client, key))
    return clientJob(client, job) ?? notFound()
  }

  return {
    async list(client, { state, limit, after }) {
      const last = after && { ...mediaJobRef(client, after.key), createdAt: after.createdAt }
      const found = await Promise.all(
        MEDIA_KINDS.map((kind) => {
          const query = { kind, client: client.id, state, limit }
          return jobs.list({ ...query, after: last && (last.kind === kind ? last : placeIn(kind, last)) })
        }),
      )
      const newest = found.flat().sort((one, other) => other.createdAt - one.createdAt)
      return newest.slice(0, limit).flatMap((job) => clientJob(client, job) ?? [])
    },

    async retry(client, key) {
      const ref = mediaJobRef(client, key)
      const job = (await jobs.find(ref)) ?? notFound()
      if (job.status.state !== 'failed')
        throw new Problem({
          status: 409,
          code: 'job_not_failed',
          detail: `Only a failed job can be retried. This one is ${job.status.state}.`,
        })
      const data = job.data as QueuedMedia
      const name = parseKey(data.original)
      const found = (name && (await originals.resolve(client, { full: name }))) ?? notFound()
      const planned = planAgain(data, { client, found })
      const { query, preferences, isHeld = false } = data
      await media.begin({
        client,
        original: found,
        plan: planned,
        query,
        preferences,
        isHeld,
        caller: QUEUE_CALLER,
        again: true,
      })
      return shown(client, key)
    },

    async cancel(client, key) {
      const job = (await jobs.remove(mediaJobRef(client, key))) ?? notFound()
      // A running job does this itself, when it has ended.
      if (job.status.state === 'waiting') await derivations.release(job.data as QueuedMedia)
    },
  }
}

/** The place in the list of another kind. Jobs of one millisecond are listed in the order of their kinds. */
function placeIn(kind: MediaKind, last: { kind: MediaKind; createdAt: number }): JobPlace {
  const isListed = MEDIA_KINDS.indexOf(kind) < MEDIA_KINDS.indexOf(last.kind)
  return { id: '', createdAt: last.createdAt + (isListed ? -0.5 : 0.5) }
}

function clientJob(client: Client, job: ListedJob | undefined): ClientJob | undefined {
  const key = job?.id.slice(mediaJobRef(client, '' as ObjectKey).id.length)
  const original = key === undefined ? undefined : parseKey(key)
  if (!job || !original) return undefined
  const { status, createdAt, endedAt } = job
  return {
    key: key as ObjectKey,
    original,
    status,
    createdAt,
    ...(endedAt === undefined ? {} : { endedAt }),
  }
}

function notFound(): never {
  throw new Problem({ status: 404, code: 'job_not_found', detail: 'The client has no such job.' })
}
