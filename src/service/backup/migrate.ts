import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { BackupProgress, BackupTrouble, MigrationReport } from '../../core/backup/report.ts'
import { openWhole } from '../../core/bytes/asset.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import {
  classifyKey,
  clientRecordKey,
  type ObjectKey,
  RECORDS,
  recordKey,
  recordPrefix,
} from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { unlessStatus } from '../../core/problem.ts'
import { putJson, snapshot } from '../../core/storage/small-object.ts'
import { noClients } from '../maintenance/each-client.ts'
import { checkedBytes, DamagedBytes, readable, sourceOf, UnreadableSource } from './checked-bytes.ts'
import { createDigestSet } from './digest-set.ts'
import type { Installation } from './installation.ts'
import { contentIn } from './kept.ts'
import { isMoved, MIGRATION_KEY, requireSameInstallation, requireUnused } from './migration-target.ts'
import { isOutage } from './persistence.ts'
import { joined, type SidePair } from './sides.ts'

export interface MigrateOptions {
  installation: Installation
  /** The bucket of a client at the target. */
  targetOf(client: Pick<Client, 'id' | 'token'>): Bucket
  /** Whether derivatives are left out, which are rendered again. */
  withoutDerivatives: boolean
  /** Whether the bytes of both sides are read and compared, in the last pass. */
  verify: boolean
  /** Whether the objects of another system are copied too. */
  isForeign(key: string): boolean
  signal: AbortSignal
  found(trouble: BackupTrouble): Promise<void>
  progress(progress: BackupProgress): Promise<void>
  now?: () => number
}

const AT_ONCE = 8
const PASSES_MAX = 10
const MARKED_EVERY_MS = 10_000

/**
 * Makes the target have the same objects as the installation, also while the service runs: passes follow its changes until one
 * finds none. The objects of clients with buckets of their own are there already. What is deleted at the source in the meantime is
 * deleted at the target.
 *
 * @throws Error when the target has the files of another installation, or a service has stored files there since the last run;
 *   Problem when a side is unavailable; `signal.reason`
 */
export async function migrate(options: MigrateOptions): Promise<MigrationReport> {
  const {
    installation,
    targetOf,
    withoutDerivatives,
    isForeign,
    signal,
    found,
    progress,
    now = Date.now,
  } = options
  const report = { passes: 0, isComplete: false, files: 0, copied: 0, copiedBytes: 0, deleted: 0 }
  const unreadable = new Set<string>()
  // Records at the source that the target has had with the same bytes: a record that was changed has another tag.
  const same = createDigestSet()
  const stateOf = (client: Client, { key, tag }: { key: ObjectKey; tag?: string }) => ({
    size: 0,
    sha256: sha256(JSON.stringify([client.id, key, tag])),
  })
  const first = targetOf({ id: 'first', token: '' })
  const lastMark = await requireSameInstallation(installation, first)
  let markedAt = Number.NEGATIVE_INFINITY
  let looked = 0

  async function mark(): Promise<void> {
    if (now() < markedAt + MARKED_EVERY_MS) return
    markedAt = now()
    await putJson(first, MIGRATION_KEY, { value: { at: markedAt }, signal })
  }

  /** Whether an object may change without another key. */
  const isCompared = (key: string) => key.startsWith(`${RECORDS}/`) || isForeign(key)

  async function isSame(
    client: Client,
    { source, target }: Required<SidePair>,
    verify: boolean,
  ): Promise<boolean> {
    if (source.size !== target.size) return false
    const isRecord = isCompared(source.key)
    if (!verify && (!isRecord || (source.tag !== undefined && same.has(stateOf(client, source))))) return true
    const [one, other] = await Promise.all([
      readable(digestOf(installation.bucketOf(client), source.key, signal)),
      // What cannot be read at the target is copied again.
      digestOf(targetOf(client), source.key, signal).catch((error) => {
        if (signal.aborted || isOutage(error)) throw error
        return undefined
      }),
    ])
    return one === other
  }

  /** Reports a file once. An outage ends the run: the file itself is not at fault. */
  async function unreadableFile(client: Client, key: ObjectKey, error: unknown): Promise<void> {
    signal.throwIfAborted()
    const kind = error instanceof DamagedBytes ? 'damaged' : 'unreadable'
    if (isOutage(error) || !(error instanceof UnreadableSource || error instanceof DamagedBytes)) throw error
    const name = `${client.id} ${key}`
    if (!unreadable.has(name))
      await found({ kind, clientId: client.id, key, detail: `${error.message}, at the source` })
    unreadable.add(name)
  }

  /** @returns the number of copied bytes; undefined when it was deleted in the meantime, or cannot be read */
  async function copy(client: Client, key: ObjectKey): Promise<number | undefined> {
    const bucket = installation.bucketOf(client)
    try {
      const asset = await readable(bucket.find(key))
      const isOriginal = classifyKey(key)?.kind === 'original'
      const record = isOriginal ? await readable(snapshot(bucket, recordKey(key))) : undefined
      const content = record && contentIn(record.bytes)
      const bytes = asset && (await readable(unlessStatus(404, openWhole(asset, { signal }))))
      if (!asset || !bytes) return undefined
      // A damaged source does not replace a good copy.
      const checked = content ? checkedBytes(bytes, content) : Readable.from(sourceOf(bytes))
      await targetOf(client).put(key, checked, { mediaType: asset.mediaType, signal })
      return asset.size
    } catch (error) {
      await unreadableFile(client, key, error)
      return undefined
    }
  }

  /** Deletes an object that the source does not have any more. */
  async function remove(client: Client, key: ObjectKey): Promise<boolean> {
    if (await installation.bucketOf(client).find(key)) return false
    // A disk that was unmounted during the run has no files.
    if (!(await installation.first.find(clientRecordKey(FIRST_CLIENT_ID))))
      throw new Error('the source has no files any more. Nothing more was deleted at the target')
    const { failed } = await targetOf(client).delete([key])
    if (failed[0]) throw failed[0].error
    return true
  }

  /** @returns whether the target was changed */
  async function follow(client: Client, pair: SidePair, verify: boolean): Promise<boolean> {
    const { source, target } = pair
    if (!source) return target !== undefined && remove(client, target.key)
    const isEqual =
      target &&
      (await isSame(client, { source, target }, verify).catch(async (error) => {
        await unreadableFile(client, source.key, error)
        return true
      }))
    if (isEqual) {
      if (isCompared(source.key)) same.add(stateOf(client, source))
      return false
    }
    const size = await copy(client, source.key)
    if (size === undefined) return false
    if (verify && source.size === target?.size && !isCompared(source.key))
      await found({
        kind: 'damaged',
        clientId: client.id,
        key: source.key,
        detail: 'at the target; copied again',
      })
    if (isCompared(source.key)) same.add(stateOf(client, source))
    report.copied += 1
    report.copiedBytes += size
    return true
  }

  async function pass(verify: boolean): Promise<number> {
    let changes = 0
    report.files = 0
    const wanted = { withoutDerivatives, isForeign }
    const clients = await installation.clients()
    if (clients.length === 0) throw noClients()
    for (const client of clients) {
      if (client.storage) continue
      const pairs = joined(installation.bucketOf(client).listObjects(''), targetOf(client).listObjects(''))
      const work = async (pair: SidePair) => {
        const key = (pair.source ?? pair.target)?.key
        if (key === undefined || !isMoved(key, wanted)) return
        await mark()
        if (pair.source && key.startsWith(recordPrefix)) report.files += 1
        if (!(await follow(client, pair, verify))) return
        changes += 1
        if (!pair.source) report.deleted += 1
      }
      for await (const _ of mapConcurrent(pairs, { concurrency: AT_ONCE, signal, work })) {
        looked += 1
        await progress({ files: looked, bytes: report.copiedBytes })
      }
    }
    return changes
  }

  async function settle(): Promise<void> {
    for (let passes = 0; !report.isComplete && passes < PASSES_MAX; passes += 1) {
      report.passes += 1
      report.isComplete = (await pass(false)) === 0
    }
  }

  if (lastMark !== undefined) await requireUnused(options, lastMark)
  await settle()
  if (options.verify) {
    report.passes += 1
    report.isComplete = (await pass(true)) === 0
    await settle()
  }
  return { ...report, isComplete: report.isComplete && unreadable.size === 0, unreadable: unreadable.size }
}

/** The SHA-256 of an object; undefined when it does not exist. */
async function digestOf(bucket: Bucket, key: ObjectKey, signal: AbortSignal): Promise<string | undefined> {
  const asset = await bucket.find(key)
  const bytes = asset && (await unlessStatus(404, openWhole(asset, { signal })))
  if (!bytes) return undefined
  const hash = createHash('sha256')
  for await (const chunk of bytes) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
