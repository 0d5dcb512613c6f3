import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { anySignal } from '../../core/async/any-signal.ts'
import { QUEUE_CALLER } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import { derivativeKey, type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { onlyPreferences } from '../../core/media/preferences.ts'
import {
  isRetryable,
  type JobHandler,
  type JobOwner,
  JobRemoved,
  type JobStatus,
  type Jobs,
  NotYet,
  type OpenJobs,
} from '../../core/ports/jobs.ts'
import { fileNotFound, Problem, retryAfter, unlessStatus } from '../../core/problem.ts'
import type { Plan, Planner } from '../../pipeline/plan/plan.ts'
import type { Derivations, DeriveRequest } from '../derivatives/derivations.ts'
import type { Originals } from '../originals/originals.ts'
import { DEFERRED_FOR_MS, toDeferral } from './defer.ts'
import {
  MEDIA_KINDS,
  type MediaJobs,
  type MediaKind,
  mediaJobRef,
  type QueuedMedia,
  type WantedMedia,
} from './media-job.ts'
import { checkMayBegin, checkPlaces, jobOwner, type MediaJobsFor } from './media-places.ts'

const ATTEMPTS = 3

// The polling interval of a request that waits. Each poll is one command of Redis.
const LOOK_EVERY_MS = 300
// A shorter interval would not make the response available sooner.
const RETRY_AFTER_SECONDS = 3

export function createMediaJobs({
  originals,
  derivations,
  plan,
  jobs,
  presentClient,
  urlOf,
  ensureInstalled,
  timeoutMs,
  atMost,
  allowed,
  concurrency,
  retryMs = 10_000,
  now = Date.now,
}: {
  originals: Originals
  derivations: Derivations
  plan: Planner
  jobs: Jobs
  /** The current client: another process may have just created or changed it. @throws Problem 503 */
  presentClient: (id: string) => Promise<Client | undefined>
  /** The URL of a job. */
  urlOf: (client: Client, key: ObjectKey) => string
  /** Checks that the programs that the job of a plan needs are installed. @throws Problem 501 */
  ensureInstalled: (plan: Plan) => Promise<void>
  /** The time limit of one render. */
  timeoutMs: number
  /** The maximum of jobs of one client that wait or run. */
  atMost: number
  /** Who may begin jobs. */
  allowed: MediaJobsFor
  /** The number of jobs of each kind that this process runs at the same time. */
  concurrency: Readonly<Record<MediaKind, number>>
  retryMs?: number
  now?: () => number
}): MediaJobs {
  const stopping = new AbortController()
  // One at a time, so that each call counts the jobs that the previous ones have added.
  const oneAtATime = pLimit(1)

  const keyOf = ({ original, plan }: WantedMedia) => derivativeKey(original.name.key, plan.variant)

  /** Counts the jobs of all kinds: they share the places of their client. */
  async function openOf(owner: JobOwner): Promise<OpenJobs> {
    const open = await Promise.all(MEDIA_KINDS.map((kind) => jobs.openOf(kind, owner)))
    const sum = (of: keyof OpenJobs) => open.reduce((total, each) => total + each[of], 0)
    return { all: sum('all'), anonymous: sum('anonymous'), sameAddress: sum('sameAddress') }
  }

  async function begin(wanted: WantedMedia): Promise<JobStatus> {
    const { client, original, query, preferences, isHeld = false, isSource = false, again = false } = wanted
    const derivative = keyOf(wanted)
    const ref = mediaJobRef(client, derivative)
    const mayBegin = ({ state }: JobStatus) => state === 'done' || (again && state === 'failed')
    const known = await jobs.status(ref)
    if (known && !mayBegin(known)) return known
    checkMayBegin(wanted, allowed)
    await ensureInstalled(wanted.plan)
    return oneAtATime(async () => {
      const meanwhile = await jobs.status(ref)
      if (meanwhile && !mayBegin(meanwhile)) return meanwhile
      await wanted.beforeJob?.()
      const owner = jobOwner(client.id, wanted.caller)
      checkPlaces(wanted, await openOf(owner), atMost)
      const deadline = await derivations.reserve({
        ...original,
        client,
        plan: wanted.plan,
        timeoutMs,
        isHeld,
      })
      const data: QueuedMedia = {
        clientId: client.id,
        original: original.name.key,
        derivative,
        deadline,
        isHeld,
        isSource,
        query,
        preferences: onlyPreferences(preferences, wanted.plan.variesBy),
        until: now() + DEFERRED_FOR_MS,
      }
      await jobs.enqueue({ ...ref, owner, data, again })
      return (await jobs.status(ref)) ?? { state: 'waiting', attempts: 0, progress: 0 }
    })
  }

  /** Resolves when the derivative is stored; with false when its client, its original or its plan is outdated. */
  async function make(
    { clientId, original, derivative, query, preferences, isHeld = false, isSource }: QueuedMedia,
    how: Pick<DeriveRequest, 'signal' | 'progress' | 'isTriedAgain'>,
  ): Promise<boolean> {
    const client = await presentClient(clientId)
    const name = parseKey(original)
    const found = client && name && (await originals.resolve(client, { full: name }))
    if (!client || !name || !found) return false
    const { focalPoint } = found.record
    const rules = isSource ? {} : client.rules
    const planned = plan({ query, format: name.format, preferences, rules, focalPoint })
    // Plugins or rules have changed since the job was queued: requests now name another derivative.
    if (derivativeKey(original, planned.variant) !== derivative) return false
    const caller = QUEUE_CALLER
    const request = { ...found, client, caller, plan: planned, timeoutMs, isHeld, ...how }
    const asset = await unlessStatus(404, unlessStatus(429, derivations.derive(request)))
    await derivations.ended(client, derivative)
    if (!asset) return false
    if (await originals.derivativeToRead(client, original, derivative)) return true
    if (await originals.resolve(client, { full: name }))
      throw new Error('the derivative was rendered but could not be stored')
    return false
  }

  const runJob: JobHandler<QueuedMedia> = async ({ data, attempt }, { progress, ...run }) => {
    const { signal, leave } = anySignal([run.signal, stopping.signal])
    const isTriedAgain = (error: unknown) => {
      const thrown = toDeferral(error, data.until > now())
      return thrown instanceof NotYet || (attempt < ATTEMPTS && isRetryable(thrown))
    }
    try {
      if (!(await make(data, { signal, progress, isTriedAgain }))) await derivations.release(data)
    } catch (error) {
      if (run.signal.reason instanceof JobRemoved) await derivations.release(data)
      throw stopping.signal.aborted ? new NotYet(0) : toDeferral(error, data.until > now())
    } finally {
      leave()
    }
  }

  return {
    begin,

    async finish(wanted, { waitMs, signal }) {
      const { client } = wanted
      const key = keyOf(wanted)
      const until = performance.now() + waitMs
      for (let status: JobStatus | undefined = await begin(wanted); status?.state !== 'done'; ) {
        if (status?.state === 'failed') throw Problem.fromJSON(status.failure)
        if (status?.state === 'running' && (await originals.isPlayable(client, key))) return
        const leftMs = until - performance.now()
        if (leftMs <= 0) throw notReady(status?.progress ?? 0, urlOf(client, key))
        await pause(Math.min(LOOK_EVERY_MS, leftMs), undefined, { signal })
        status = await jobs.status(mediaJobRef(client, key))
      }
    },

    async look(client, path) {
      const { full } = parsePath(path)
      const found = full?.variant === undefined ? undefined : await originals.resolve(client, { full })
      if (found?.variant === undefined) throw fileNotFound()
      const key = derivativeKey(found.name.key, found.variant)
      const status = await jobs.status(mediaJobRef(client, key))
      const job = { key, original: found.name }
      if (status && status.state !== 'done') {
        const isPlayable = status.state === 'running' && (await originals.isPlayable(client, key))
        return { ...job, status, isPlayable }
      }
      if (!(await originals.derivativeToRead(client, found.name.key, key))) throw fileNotFound()
      return { ...job, status: status ?? { state: 'done', attempts: 0, progress: 1 }, isPlayable: true }
    },

    work() {
      // Three parts have this time each: waiting for the file, rendering, and storing.
      const limits = { limitMs: 3 * timeoutMs, attempts: ATTEMPTS, retryMs, retryMaxMs: 6 * retryMs }
      for (const kind of MEDIA_KINDS)
        jobs.work<QueuedMedia>(kind, runJob, { ...limits, concurrency: concurrency[kind] })
    },

    stop: () => stopping.abort(new DOMException('the process is stopping', 'AbortError')),
  }
}

/** 423: the job is in progress. `progress` is from 0 to 1; `job` is the URL of the job. */
function notReady(progress: number, job: string): Problem {
  const { members, headers } = retryAfter(RETRY_AFTER_SECONDS)
  return new Problem({
    status: 423,
    code: 'not_ready',
    detail: 'This derivative is still in progress. Retry later, or poll the URL in job.',
    members: { progress, job, ...members },
    headers,
  })
}
