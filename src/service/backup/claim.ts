import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { z } from 'zod'
import { anySignal } from '../../core/async/any-signal.ts'
import { every } from '../../core/async/every.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import { isAlive } from '../../core/is-alive.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { Problem } from '../../core/problem.ts'
import { putJson, snapshot } from '../../core/storage/small-object.ts'

const RENEW_MS = 120_000
// Longer than two renewals and the outage of a store between them.
const STALE_MS = 600_000

const mark = z.object({ installation: z.string().optional() })
const run = z.object({ id: z.string(), host: z.string(), pid: z.int(), at: z.number() })

/** The objects of a target by which runs know each other. */
export interface ClaimKeys {
  /** States which installation the target belongs to. Written once. */
  mark: ObjectKey
  /** States which run is in progress. */
  run: ObjectKey
}

/** A target that one run has for itself. */
export interface ClaimedTarget {
  /** Aborts as the signal of the caller, and when the target was lost to another run. */
  signal: AbortSignal
  /** Before what cannot be undone. @throws Error when another run or a service has taken the target */
  check(): Promise<void>
}

export interface ClaimOptions {
  keys: ClaimKeys
  /** The same for all runs of an installation. Undefined when it is unknown: then any mark is accepted. */
  installation: string | undefined
  signal: AbortSignal
  now?: (() => number) | undefined
  /** Checks a target without a mark, before it gets one. */
  unmarked?: (() => Promise<void>) | undefined
  /** Repeats the renewal of the claim, as {@link every}. */
  repeat?: ((renew: () => Promise<void>) => { stop(): Promise<void> }) | undefined
}

/**
 * Does the work of one run, while no other run may use the target. The claim of a killed run expires after ten minutes; on the
 * same machine it ends with its process, or after four minutes when this process has the same number, as in containers.
 *
 * @throws Error when another run is in progress, or the target has the files of another installation
 */
export async function withClaim<T>(
  bucket: Bucket,
  {
    keys,
    installation,
    signal,
    now = Date.now,
    unmarked = async () => {},
    repeat = (renew) => every(RENEW_MS, renew),
  }: ClaimOptions,
  work: (target: ClaimedTarget) => Promise<T>,
): Promise<T> {
  const write = (key: ObjectKey, value: object) =>
    putJson(bucket, key, { value, signal: new AbortController().signal })
  const marked = await requireOwn(bucket, { keys, installation, now })
  const id = randomUUID()
  const lost = new AbortController()
  let renewedAt = now()
  const renew = async () => {
    const at = now()
    await write(keys.run, { id, host: hostname(), pid: process.pid, at })
    renewedAt = at
  }
  const hasRun = async () => (await read(bucket, keys.run, run))?.id === id
  const check = async () => {
    // A service that uses the target deletes the mark. Only the other object is written again and again.
    if (!(await hasRun()) || !(await bucket.find(keys.mark)))
      throw new Error('another run, or a service, uses this target now. This run has stopped')
  }
  const release = async () => {
    // Without the right to delete, it expires.
    if (await hasRun().catch(() => false)) await bucket.delete([keys.run]).catch(() => {})
  }
  await renew()
  try {
    if (!marked) await unmarked()
    // The first run may not have known the identity.
    if (!marked || (!marked.installation && installation)) await write(keys.mark, { installation })
  } catch (error) {
    await release()
    throw error
  }
  const either = anySignal([signal, lost.signal])
  const renewing = repeat(async () => {
    try {
      await check()
      await renew()
    } catch (error) {
      const isShort = error instanceof Problem && now() < renewedAt + STALE_MS / 2
      if (!isShort) lost.abort(error)
    }
  })
  try {
    // Another run may have begun at the same moment.
    await check()
    return await work({ signal: either.signal, check })
  } finally {
    either.leave()
    await renewing.stop()
    await release()
  }
}

/**
 * @returns the mark; undefined for a target without one
 * @throws Error when the target has the files of another installation, or a run is in progress
 */
export async function requireOwn(
  bucket: Bucket,
  { keys, installation, now = Date.now }: Pick<ClaimOptions, 'keys' | 'installation' | 'now'>,
): Promise<z.infer<typeof mark> | undefined> {
  const marked = await read(bucket, keys.mark, mark)
  if (marked?.installation && installation && marked.installation !== installation)
    throw new Error(
      'this place has the files of another installation. Choose another folder or prefix; restore into an empty DATA_DIR or bucket',
    )
  const other = await read(bucket, keys.run, run)
  if (other && isInProgress(other, now()))
    throw new Error(
      `another run uses this place, on ${other.host}, last seen at ${new Date(other.at).toISOString()}. Wait until it ends; the claim of a killed run ends after 10 minutes`,
    )
  return marked
}

async function read<T>(bucket: Bucket, key: ObjectKey, schema: z.ZodType<T>): Promise<T | undefined> {
  const found = await snapshot(bucket, key)
  try {
    return found && schema.parse(JSON.parse(found.bytes.toString('utf8')))
  } catch (cause) {
    throw new Error(`${key} in the target is damaged. Delete it when no run is in progress`, { cause })
  }
}

function isInProgress({ host, pid, at }: z.infer<typeof run>, now: number): boolean {
  // In a container, each process may have the same number: that of a killed run is ours now. So may be that of another container.
  const isSilent = now > at + 2 * RENEW_MS
  const isDead = host === hostname() && (pid === process.pid ? isSilent : !isAlive(pid))
  return now < at + STALE_MS && !isDead
}
