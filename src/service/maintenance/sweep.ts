import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { Client } from '../../core/clients/client.ts'
import type { Log } from '../../core/log.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { DerivativeIndex, IndexMaintenance } from '../../core/ports/file-index.ts'
import type { RecordChange } from '../../core/ports/index/record-changes.ts'
import type { Overdue } from '../../core/ports/index/steps.ts'
import { recordOfDerivative } from '../derivatives/parts.ts'
import type { Agree } from '../originals/agree.ts'
import type { Removals } from '../originals/delete.ts'
import { deleteDerivative, deleteParts } from '../originals/delete-objects.ts'
import { CONCURRENCY } from './walk.ts'

/**
 * Finishes abandoned work, at the start and every minute. The index is updated from changed records. Deletes are completed.
 * Incomplete uploads are deleted, but an upload with its record and a derivative with its bytes are finished, since a
 * put is all or nothing. A failure is retried by the next sweep. A call during a sweep returns the result of that sweep.
 *
 * @param signal ends only the last part early, in which the index frees memory
 * @returns the number of finished items
 */
export type Sweep = (signal?: AbortSignal) => Promise<number>

// Many changes may belong to unknown clients. The client records are read once for all of them.
const CLIENTS_MAX_AGE_MS = 1000
// Two seconds of Redis. Of 500 uploads and as many deletes per second, the index moves about 10,000 files per minute.
const TIDY_MOST = 10_000

type OverdueDerivative = Extract<Overdue, { kind: 'derivative' }>

export function createSweep({
  index,
  buckets,
  clients,
  removals,
  agree,
  log,
  now = Date.now,
}: {
  index: DerivativeIndex & IndexMaintenance
  buckets: Buckets
  clients: ClientStore
  removals: Removals
  agree: Agree
  log: Log
  now?: () => number
}): Sweep {
  async function settleDerivative(
    client: Client,
    { ref, derivative, deadline }: OverdueDerivative,
  ): Promise<void> {
    const bucket = buckets.of(client)
    const asset = await bucket.find(derivative)
    const retained =
      asset &&
      (await index.finishDerivative(ref, await recordOfDerivative(bucket, derivative, asset), {
        at: now(),
        isHeld: false,
      }))
    if (retained) return
    if (asset) await deleteDerivative(bucket, derivative)
    else {
      await bucket.abortPuts(derivative)
      // A new attempt stores parts after the deadline. They must remain.
      await deleteParts(bucket, derivative, { before: deadline })
    }
    await index.dropDerivative(ref, derivative, deadline)
  }

  async function end(item: Overdue): Promise<boolean> {
    const { ref } = item
    try {
      const client = clients.find(ref.clientId)
      if (!client) return false
      if (item.kind === 'original') await removals.sweep(client, ref)
      else await settleDerivative(client, item)
      return true
    } catch (error) {
      log.warn(
        { err: error, client: ref.clientId, key: ref.key },
        'the sweep of this entry failed; the next sweep retries',
      )
      return false
    }
  }

  /** After a change whose process has died: updates the index from the bucket. */
  async function endChange(change: RecordChange): Promise<boolean> {
    const { ref } = change
    try {
      // Another process may have just added the client.
      if (!clients.find(ref.clientId)) await clients.refresh({ maxAgeMs: CLIENTS_MAX_AGE_MS })
      const client = clients.find(ref.clientId)
      if (client) {
        await agree(client, ref.key)
        if (!(await removals.sweepLatePuts(client, ref))) return false
      }
      // The files of a removed client are deleted. Those of a client that is not known yet may differ from the index.
      else if ((await index.find(ref)).original) return false
      await index.endChange(change)
      return true
    } catch (error) {
      log.warn(
        { err: error, client: ref.clientId, key: ref.key },
        'the sweep of this entry failed; the next sweep retries',
      )
      return false
    }
  }

  async function tidy(signal: AbortSignal | undefined): Promise<void> {
    try {
      await index.tidy({ signal, most: TIDY_MOST })
    } catch (error) {
      log.warn({ err: error }, 'the memory of the index could not be freed; the next sweep retries')
    }
  }

  async function sweep(signal: AbortSignal | undefined): Promise<number> {
    let ended = 0
    const changes = await index.overdueChanges(now())
    for await (const hasEnded of mapConcurrent(changes, { concurrency: CONCURRENCY, work: endChange }))
      if (hasEnded) ended += 1
    for await (const hasEnded of mapConcurrent(index.overdue(now()), { concurrency: CONCURRENCY, work: end }))
      if (hasEnded) ended += 1
    await tidy(signal)
    if (ended > 0) log.info({ ended }, 'cleaned up overdue uploads, derivatives, changes and deletes')
    return ended
  }

  let running: Promise<number> | undefined
  return (signal) => {
    running ??= sweep(signal).finally(() => {
      running = undefined
    })
    return running
  }
}
