import { setTimeout as pause } from 'node:timers/promises'
import { withLastModified } from '../../core/bytes/asset.ts'
import { QUEUE_CALLER } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import { derivativeKey, type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import type { Preferences } from '../../core/media/preferences.ts'
import type { DerivativeIndex } from '../../core/ports/file-index.ts'
import { type Jobs, NotYet, type WorkOptions } from '../../core/ports/jobs.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import { unlessStatus } from '../../core/problem.ts'
import { runsAsJob } from '../../pipeline/plan/runs-as-job.ts'
import { DEFERRED_FOR_MS, deferrable } from '../delivery/defer.ts'
import type { Deliveries, Delivery, DeliveryRequest, StoredSource } from '../delivery/deliveries.ts'
import type { Derivations } from '../derivatives/derivations.ts'
import type { NotedUses } from '../derivatives/noted-uses.ts'
import type { Originals } from '../originals/originals.ts'
import { createOftenDelivered, type Wish } from './often-delivered.ts'

/** Replaces images that are delivered often by smaller ones of the same look, in idle time. */
export interface Recompression {
  /** The deliveries, with the smaller images. */
  deliveries: Deliveries
  /** Starts to compress in this process. Not called: other processes do it. */
  work(): void
  /** Returns the running job to the queue. Called after the queue was paused. */
  stop(): void
}

/** The kind of its jobs. */
export const RECOMPRESS_KIND = 'recompress'
const MOST_EFFORT = ['effort', 'max'] as const
// A smaller saving is not worth that every cache receives the image again.
const WORTH = 0.98
// More jobs than a process could do in an idle day are of no use.
const MOST_WAITING = 10_000
const MOST_QUERY_CHARACTERS = 4096

interface QueuedImage {
  clientId: string
  original: ObjectKey
  derivative: ObjectKey
  query: Array<readonly [name: string, value: string]>
  preferences: Preferences
  /** Until then the job waits for idle time and resources. Milliseconds since 1970. */
  until: number
}

/** One at a time, on one core. */
const PLAN: WorkOptions = {
  concurrency: 1,
  limitMs: 10 * 60_000,
  attempts: 2,
  retryMs: 60_000,
  retryMaxMs: 10 * 60_000,
}
// Less than the limit of an attempt: the time to render is left.
const IDLE_WITHIN_MS = 5 * 60_000
const IDLE_PAUSE_MS = 1000

/**
 * Counts deliveries, and queues a job for a derivative that this process has delivered `after` times. The job renders the same plan
 * with `effort=max`, as a derivative of its own, and notes its key in the record of the first one: one step, after which all
 * processes deliver the smaller file, with its own `ETag`. No stored bytes change. When the smaller file is evicted, the first one
 * is delivered again.
 */
export function createRecompression({
  deliveries,
  after,
  originals,
  index,
  derivations,
  uses,
  jobs,
  presentClient,
  isIdle,
  metrics,
  log,
  now = Date.now,
}: {
  deliveries: Deliveries
  /** From 1. */
  after: number
  originals: Pick<Originals, 'resolve'>
  index: Pick<DerivativeIndex, 'find' | 'amendDerivative'>
  derivations: Pick<Derivations, 'derive' | 'ended'>
  uses: NotedUses
  jobs: Jobs
  presentClient: (id: string) => Promise<Client | undefined>
  /** Whether the machine has little else to do. */
  isIdle: (signal: AbortSignal) => Promise<boolean>
  metrics: Pick<Metrics, 'savedByRecompression'>
  log: Log
  now?: () => number
}): Recompression {
  const stopping = new AbortController()
  const often = createOftenDelivered({
    after,
    found: (source, wish) =>
      void queue(source, wish).catch((err) =>
        log.debug({ err }, 'an image cannot be queued for recompression'),
      ),
  })

  async function queue({ clientId, original, derivative }: StoredSource, { query, preferences }: Wish) {
    if (!derivative || JSON.stringify(query).length > MOST_QUERY_CHARACTERS) return
    if ((await jobs.counts(RECOMPRESS_KIND)).waiting >= MOST_WAITING) return
    const { encoding: _, ...stated } = preferences
    const until = now() + DEFERRED_FOR_MS
    const data: QueuedImage = {
      clientId,
      original,
      derivative,
      query: [...query],
      preferences: stated,
      until,
    }
    await jobs.enqueue({ kind: RECOMPRESS_KIND, id: `${clientId} ${derivative}`, data })
  }

  async function idleTime(signal: AbortSignal): Promise<void> {
    for (const until = performance.now() + IDLE_WITHIN_MS; !(await isIdle(signal)); ) {
      if (performance.now() > until) throw new NotYet(IDLE_PAUSE_MS)
      await pause(IDLE_PAUSE_MS, undefined, { signal })
    }
  }

  /** Resolves when the image is replaced, when that is not worth it, or when it does not exist any more. */
  async function recompress(image: QueuedImage, signal: AbortSignal): Promise<void> {
    const { clientId, original, derivative, preferences } = image
    const client = await presentClient(clientId)
    const name = parseKey(original)
    const found = client && name && (await originals.resolve(client, { full: name }))
    if (!found) return
    const ref = { clientId, key: original }
    const storedRecord = async (key: ObjectKey) => {
      const entry = (await index.find(ref, key)).derivative
      return entry?.state === 'stored' ? entry.record : undefined
    }
    const record = await storedRecord(derivative)
    if (!record || record.smaller) return
    // The rule is for requests, and this one was accepted.
    const { presetsOnly: _, ...rules } = client.rules ?? {}
    const query = [...image.query, MOST_EFFORT]
    const wanted = { client: { ...client, rules }, caller: QUEUE_CALLER, query, preferences, signal }
    // The chain or a preset was changed, or the URL has this parameter itself.
    const plan = await unlessStatus(400, deliveries.planFor(wanted, found))
    const key = plan && derivativeKey(original, plan.variant)
    if (!plan || !key || key === derivative || runsAsJob(plan)) return
    if (!(await storedRecord(key))) {
      await idleTime(signal)
      await derivations.derive({ ...found, client, caller: QUEUE_CALLER, plan, signal })
      await derivations.ended(client, key)
    }
    const made = await storedRecord(key)
    if (!made || made.size > WORTH * record.size) return
    await index.amendDerivative(ref, record, { ...record, smaller: { key, since: now() } })
  }

  /** The smaller image instead of the delivery; undefined when it was evicted. */
  async function smallerOf(delivery: Delivery, request: DeliveryRequest): Promise<Delivery | undefined> {
    const { stored, asset: larger } = delivery
    if (!stored?.smaller) return undefined
    const { key, since } = stored.smaller
    const smaller = await unlessStatus(404, deliveries.object({ ...request, path: key }))
    if (!smaller?.stored) return undefined
    // A client that has the former file by its date must receive this one.
    const asset = withLastModified(smaller.asset, Math.max(since, larger.lastModified.getTime()))
    const { clientId, original, isHeld } = stored
    const instead = { key: delivery.key, savedBytes: larger.size - asset.size }
    const source: StoredSource = { clientId, original, derivative: key, isHeld, asset, instead }
    // The use of the first one is noted already.
    metrics.savedByRecompression(instead.savedBytes)
    return { ...delivery, key, asset, newFormat: smaller.newFormat, stored: source }
  }

  function noteInstead({ clientId, original, isHeld, instead }: StoredSource): void {
    if (!instead) return
    uses.note({ clientId, key: original }, instead.key, { isHeld })
    metrics.savedByRecompression(instead.savedBytes)
  }

  return {
    deliveries: {
      ...deliveries,
      async deliver(request) {
        const delivery = await deliveries.deliver(request)
        const { stored, asset } = delivery
        if (!stored?.derivative || stored.isNamed || request.isSigned || delivery.encoding) return delivery
        if (stored.smaller) return (await smallerOf(delivery, request)) ?? delivery
        if (asset.mediaType.startsWith('image/')) often.count(stored, request)
        return delivery
      },
      noteRepeated(source) {
        deliveries.noteRepeated(source)
        if (source.instead) noteInstead(source)
        else if (source.derivative && !source.isNamed) often.count(source)
      },
    },
    work() {
      const handler = deferrable(recompress, { stopping: stopping.signal, now })
      jobs.work<QueuedImage>(RECOMPRESS_KIND, handler, PLAN)
    },
    stop: () => stopping.abort(new DOMException('the process is stopping', 'AbortError')),
  }
}
