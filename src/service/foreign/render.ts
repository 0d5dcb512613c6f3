import { Readable } from 'node:stream'
import { createFailures } from '../../core/budgets/failures.ts'
import { type Asset, openWhole } from '../../core/bytes/asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import { derivativesOfForeign, derivativesOfVersion } from '../../core/foreign/foreign-path.ts'
import type { Log } from '../../core/log.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { Locks } from '../../core/ports/locks.ts'
import type { Spool } from '../../core/ports/spool.ts'
import { fileReplaced } from '../../core/problem.ts'
import type { Plan } from '../../pipeline/plan/plan.ts'
import { refuseParts } from '../../pipeline/run/refuse-parts.ts'
import type { WorkRunner } from '../../pipeline/run/run.ts'
import type { Assets } from '../delivery/referenced-files.ts'
import { createLeftovers } from '../derivatives/cleanup.ts'
import { payerOf } from '../derivatives/make.ts'
import { measured, metered, newMeter, takeHead } from '../upload/incoming-bytes.ts'
import type { FindForeign, ForeignObject } from './objects.ts'

/** A derivative of a foreign object to render. */
export interface ForeignDerivative {
  client: Client
  caller: Caller
  object: ForeignObject
  plan: Plan
  key: ObjectKey
  signal: AbortSignal
  /** Called before a render. Its error is the response. */
  beforeRender: () => Promise<void>
}

/** Renders and stores a derivative, unless it is stored. @returns its bytes @throws Problem 422, 429, 503 */
export type DeriveForeign = (request: ForeignDerivative) => Promise<Asset>

/**
 * Derivatives of foreign objects are objects of the bucket only: they have no entry in the index. A put is all or nothing, so a
 * crash leaves nothing half written.
 */
export function createDeriveForeign({
  find,
  buckets,
  locks,
  spool,
  assets,
  run,
  limits,
  variantLimit,
  log,
  now = Date.now,
}: {
  find: FindForeign
  buckets: Buckets
  locks: Locks
  spool: Spool
  assets: Assets
  run: WorkRunner
  limits: TransformLimits
  /** Maximum number of derivatives of one object, unless the rules of the client have another one. */
  variantLimit: number
  log: Log
  now?: () => number
}): DeriveForeign {
  const failures = createFailures(now)

  async function render({ client, caller, object, plan, key }: ForeignDerivative, signal: AbortSignal) {
    const leftovers = createLeftovers(log, { key })
    const bucket = buckets.of(client)
    try {
      const { mediaType, format } = object.type
      // A copy: the other system may replace the object while it is rendered.
      const incoming = await takeHead(await openWhole(object.asset, { signal }))
      const meter = newMeter(format)
      const bytes = Readable.from(metered(incoming, { meter }), { objectMode: false })
      const spooled = await spool(bytes, { mediaType, signal })
      leftovers.add(spooled.remove)
      if ((await find(client, object.key, signal)).version !== object.version) throw fileReplaced()
      const rendered = await run(
        plan,
        { ...spooled.asset, ...measured(meter) },
        {
          ...payerOf({ client, caller }),
          asset: await assets.of(client, plan),
          storePart: refuseParts,
          limits,
          signal,
          log,
          afterwards: leftovers.add,
        },
      )
      await makeRoom(client, object)
      await bucket.put(key, await rendered.open({ signal }), {
        mediaType: rendered.mediaType,
        durable: false,
        signal,
      })
    } finally {
      await leftovers.remove()
    }
  }

  /** Deletes the derivatives of earlier versions, and others above the limit. */
  async function makeRoom(client: Client, { key, version }: ForeignObject): Promise<void> {
    const bucket = buckets.of(client)
    const current = derivativesOfVersion(key, version)
    const evicted: ObjectKey[] = []
    let count = 0
    for await (const derivative of bucket.list(derivativesOfForeign(key))) {
      if (derivative.startsWith(current)) count += 1
      if (!derivative.startsWith(current) || count >= (client.rules?.variantLimit ?? variantLimit))
        evicted.push(derivative)
    }
    if (evicted.length === 0) return
    const { failed } = await bucket.delete(evicted)
    if (failed.length > 0) log.warn({ err: failed[0]?.error, key }, 'old derivatives could not be deleted')
  }

  return async (request) => {
    const { client, object, key, beforeRender, signal } = request
    const bucket = buckets.of(client)
    const stored = await bucket.find(key)
    if (stored) return stored
    const failure = `${client.id} ${key}`
    failures.check(failure)
    await beforeRender()
    const work = async (held: AbortSignal) => {
      if (!(await bucket.find(key))) await render(request, held)
    }
    try {
      // The copy, the wait for a turn, the render, and the put.
      await locks.share(`foreign ${failure}`, work, { signal, limitMs: 4 * limits.timeoutMs })
    } catch (error) {
      failures.remember(failure, error)
      throw error
    }
    const asset = await bucket.find(key)
    // Another request with another version has deleted it.
    if (!asset) throw fileReplaced(new Error(`${object.key} has changed`))
    return asset
  }
}
