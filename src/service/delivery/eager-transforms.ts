import { setTimeout as pause } from 'node:timers/promises'
import { QUEUE_CALLER } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import type { Grant } from '../../core/clients/grant.ts'
import { derivativeKey, type ObjectKey, type OriginalName, parseKey } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import type { Format } from '../../core/media/formats.ts'
import type { JobStatus, Jobs, WorkOptions } from '../../core/ports/jobs.ts'
import { badParameter, Problem, unlessStatus } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'
import type { Derivations } from '../derivatives/derivations.ts'
import type { FoundOriginal } from '../originals/originals.ts'
import { DEFERRED_FOR_MS, deferrable } from './defer.ts'
import type { Deliveries } from './deliveries.ts'

/** A derivative that is rendered in advance, before the first request for it. */
export interface EagerTransform {
  /** As received. */
  query: string
  key: ObjectKey
  state: JobStatus['state']
}

/** Renders derivatives in the background, by a durable queue. */
export interface EagerTransforms {
  /**
   * Checks that these transformations are valid for a file of this format, and permitted by the grant.
   * @throws Problem 400; its member `transform` is the index of the invalid one
   */
  check(grant: Pick<Grant, 'client' | 'folder'>, format: Format, queries: readonly string[]): void
  /** Queues them for a stored original. One that cannot be queued is `failed`: the first request renders it. */
  begin(client: Client, original: FoundOriginal, queries: readonly string[]): Promise<EagerTransform[]>
  /** Starts to run queued transformations in this process. */
  work(): void
  /** Aborts the running ones and returns them to the queue. Called after the queue was paused. */
  stop(): void
}

const KIND = 'derive'

interface QueuedTransform {
  clientId: string
  original: ObjectKey
  query: string
  /** Until then the job is deferred while resources are missing. Milliseconds since 1970. */
  until: number
}

/** One at a time: it uses one core, and the other cores are for requests. */
const PLAN: WorkOptions = {
  concurrency: 1,
  limitMs: 5 * 60_000,
  attempts: 5,
  retryMs: 10_000,
  retryMaxMs: 10 * 60_000,
}

export function createEagerTransforms({
  deliveries,
  derivations,
  jobs,
  presentClient,
  isBusy,
  patienceMs = 30_000,
  log,
  now = Date.now,
}: {
  deliveries: Deliveries
  derivations: Derivations
  jobs: Jobs
  /** The current client: another process may have just created or changed it. @throws Problem 503 */
  presentClient: (id: string) => Promise<Client | undefined>
  /** Whether requests wait for a turn to render. */
  isBusy: () => boolean
  /** How long a derivative yields to requests. */
  patienceMs?: number
  log: Log
  now?: () => number
}): EagerTransforms {
  const stopping = new AbortController()

  async function queued(client: Client, original: OriginalName, query: string, derivative: ObjectKey) {
    const { key } = original
    const id = `${client.id} ${derivative}`
    const data: QueuedTransform = {
      clientId: client.id,
      original: key,
      query,
      until: now() + DEFERRED_FOR_MS,
    }
    try {
      const lasting = await deliveries.begin({
        client,
        caller: QUEUE_CALLER,
        query: pairsOf(query),
        original,
      })
      if (lasting) return lasting.state
      await jobs.enqueue({ kind: KIND, id, data })
      return 'waiting' as const
    } catch (error) {
      log.warn({ err: error, client: client.id, key: derivative }, 'a derivative cannot be queued')
      return 'failed' as const
    }
  }

  async function requestsFirst(signal: AbortSignal): Promise<void> {
    for (const until = performance.now() + patienceMs; isBusy() && performance.now() < until; )
      await pause(50, undefined, { signal })
  }

  /** Resolves when the derivative is stored, or when its client or original does not exist any more. */
  async function make({ clientId, original, query }: QueuedTransform, signal: AbortSignal): Promise<void> {
    const client = await presentClient(clientId)
    const name = parseKey(original)
    if (!client || !name) return
    await requestsFirst(signal)
    const { group } = name.format
    const pairs = pairsOf(query)
    const wanted = {
      client,
      caller: QUEUE_CALLER,
      group,
      path: original,
      query: pairs,
      preferences: {},
      signal,
    }
    const delivery = await unlessStatus(404, deliveries.deliver(wanted))
    if (!delivery) return
    await derivations.ended(client, delivery.key)
    const isThere = async (path: ObjectKey) =>
      (await unlessStatus(404, deliveries.object({ ...wanted, path }))) !== undefined
    if ((await isThere(delivery.key)) || !(await isThere(original))) return
    throw new Error('the derivative was rendered but could not be stored')
  }

  return {
    check({ client, folder }, format, queries) {
      for (const [i, query] of queries.entries()) {
        try {
          const requested = { client, folder, format, query: pairsOf(query), preferences: {} }
          const { steps, variesBy } = deliveries.plan(requested)
          if (steps.length === 0) throw nothingToDo(i, query)
          if (variesBy.length > 0) throw variesByRequest(i, query)
        } catch (error) {
          throw error instanceof Problem ? ofTransform(error, i, query) : error
        }
      }
    },

    async begin(client, original, queries) {
      const { name } = original
      const by = { client, caller: QUEUE_CALLER, signal: stopping.signal }
      const transforms: EagerTransform[] = []
      for (const query of queries) {
        const requested = { ...by, format: name.format, query: pairsOf(query), preferences: {} }
        // An upload does not fail because a header cannot be read now: the job reads it again.
        const { variant } = await deliveries
          .planFor(requested, original)
          .catch(() => deliveries.plan(requested))
        const key = derivativeKey(name.key, variant)
        transforms.push({ query, key, state: await queued(client, name, query, key) })
      }
      return transforms
    },

    work() {
      jobs.work<QueuedTransform>(KIND, deferrable(make, { stopping: stopping.signal, now }), PLAN)
    },

    stop: () => stopping.abort(new DOMException('the process is stopping', 'AbortError')),
  }
}

function pairsOf(query: string): Array<[name: string, value: string]> {
  return [...new URLSearchParams(query)]
}

function nothingToDo(i: number, query: string): Problem {
  const expected = 'at least one parameter of a transformation'
  return badParameter({ param: `transforms[${i}]`, expected, received: query })
}

/** Which formats a browser accepts is only known from its request. */
function variesByRequest(i: number, query: string): Problem {
  const expected =
    'no value auto of f, w and dpr (it depends on the browser of each request: name each format and size instead)'
  return badParameter({ param: `transforms[${i}]`, expected, received: query })
}

/** The same problem, which names the transformation that it is about. */
function ofTransform(problem: Problem, i: number, query: string): Problem {
  const { message, members } = problem
  const place = `transforms[${i}]`
  const saysIt = members.param === place
  const detail = saysIt ? message : `${message}, in ${place}: ${JSON.stringify(truncate(query))}`
  return problem.with({ detail, members: { transform: i }, cause: problem })
}
