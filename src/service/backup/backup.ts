import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import { backupKeys } from '../../core/backup/place.ts'
import type { BackupProgress, BackupReport, BackupTrouble } from '../../core/backup/report.ts'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { clientRecordKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { byBytes } from '../../core/text/byte-order.ts'
import { noClients } from '../maintenance/each-client.ts'
import { readable, UnreadableSource } from './checked-bytes.ts'
import { type ClaimedTarget, type ClaimOptions, withClaim } from './claim.ts'
import { entryOf, type ListedRecord, listedRecords } from './copied-files.ts'
import { earlierEntries } from './earlier-entries.ts'
import { checkManifests, expireBackups } from './expire.ts'
import { type Installation, identityOf } from './installation.ts'
import {
  type BackupEntry,
  type BackupManifest,
  byClient,
  DamagedManifest,
  listManifests,
  readManifest,
  writeManifest,
} from './manifest.ts'
import { openObjects } from './objects.ts'
import { persistently, type Waiting } from './persistence.ts'

export interface BackupOptions extends Waiting, Pick<ClaimOptions, 'repeat'> {
  installation: Installation
  target: Bucket
  /** Reads all objects of the backup, and each one that is added, and compares their SHA-256. */
  verify: boolean
  /** Deletes backups that are older, except the newest one, and the objects that only they use. Undefined: deletes nothing. */
  keepMs?: number | undefined
  found(trouble: BackupTrouble): Promise<void>
  progress(progress: BackupProgress): Promise<void>
  now?: () => number
}

// Enough to hide the latency of S3, few enough that deliveries are not slowed down.
const AT_ONCE = 8

/**
 * Copies the records and originals of all clients, unless the target has them. The service may run: each record is copied as it
 * is at one moment, with its original, which never changes. Derivatives are left out, since they can be rendered again.
 *
 * What an interrupted run has copied is not copied again. A file that cannot be copied is reported, and an earlier copy of it
 * remains in the backup.
 *
 * @throws Problem or Error when the installation has no clients, another run is in progress, or the target cannot be used;
 *   `signal.reason`
 */
export async function backUp(options: BackupOptions): Promise<BackupReport> {
  const { installation, target, signal, now, repeat } = options
  const damaged = new Map<string, string>()
  const clients = await installation.clients((id, detail) => damaged.set(id, detail))
  if (clients.length + damaged.size === 0) throw noClients()
  const claim = { keys: backupKeys, installation: identityOf(clients), signal, now, repeat }
  return withClaim(target, claim, (claimed) => run({ ...options, ...claimed }, { clients, damaged }))
}

async function run(
  options: BackupOptions & ClaimedTarget,
  { clients, damaged }: { clients: readonly Client[]; damaged: ReadonlyMap<string, string> },
): Promise<BackupReport> {
  const { installation, target, verify, keepMs, found, progress, check, now = Date.now } = options
  const waiting: Waiting = { signal: options.signal, pause: options.pause }
  const at = now()
  const counts = { new: 0, unchanged: 0, deleted: 0, records: 0, copiedBytes: 0 }
  const troubles = { missing: 0, damaged: 0, unreadable: 0 }
  let notCopied = 0
  const reported = new Set<string>()
  const report = async (trouble: BackupTrouble) => {
    // Several steps read the manifests.
    if (trouble.clientId === undefined && trouble.key.startsWith('manifests/')) {
      if (reported.has(trouble.key)) return
      reported.add(trouble.key)
    }
    if (trouble.clientId !== undefined) notCopied += 1
    troubles[trouble.kind as keyof typeof troubles] += 1
    await found(trouble)
  }
  const verified = { files: 0, bytes: 0 }
  const objects = await openObjects(target, {
    verify,
    ...waiting,
    now,
    damaged: ({ key, detail }) => report({ kind: 'damaged', key, detail }),
    async verified(size) {
      verified.files += 1
      verified.bytes += size
      await progress({ ...verified, done: 'verified' })
    },
  })
  if (verify) await checkManifests(target, { objects, ...waiting, report })

  const { last, total } = await lastIntact(target, { ...waiting, report })
  const unavailable = new Set<string>()
  const entriesOfLast = () => (last ? readManifest(target, last, waiting) : noEntries())
  const wasDeleted = ({ client, original }: BackupEntry) => {
    if (original && !unavailable.has(client)) counts.deleted += 1
  }
  const previous = earlierEntries(entriesOfLast(), wasDeleted)
  const damagedKeys = new Set<string>([...damaged.keys()].map(clientRecordKey))
  let files = 0

  async function* copiedEntries(client: Client): AsyncGenerator<BackupEntry> {
    const bucket = installation.bucketOf(client)
    const copying = { objects, bucket, client, ...waiting, report, counts }
    // An earlier copy of the damaged record of a client remains.
    const work = async (record: ListedRecord) =>
      client.id === FIRST_CLIENT_ID && damagedKeys.has(record.object.key)
        ? record.before
        : entryOf(record, copying)
    const records = listedRecords(client, { bucket, previous, ...waiting })
    for await (const entry of mapConcurrent(records, { concurrency: AT_ONCE, ...waiting, work })) {
      if (!entry) continue
      yield entry
      if (entry.original) files += 1
      await progress({ files, bytes: counts.copiedBytes, done: 'copied', total })
    }
  }

  /** A disk that was unmounted during the run looks as if all files had been deleted. */
  async function requireSource(): Promise<void> {
    const record = clientRecordKey(FIRST_CLIENT_ID)
    if (await persistently(() => readable(installation.first.find(record)), waiting)) return
    throw new Error(`the source has no ${record} any more. This backup was not completed`)
  }

  async function* entries(): AsyncGenerator<BackupEntry> {
    for (const id of [...clients.map((one) => one.id), ...damaged.keys()].sort(byClient)) {
      let done = ''
      try {
        const client = clients.find((one) => one.id === id)
        if (!client) throw new UnreadableSource(new Error(damaged.get(id)))
        for await (const entry of copiedEntries(client)) {
          done = entry.key
          yield entry
        }
      } catch (error) {
        waiting.signal.throwIfAborted()
        if (!(error instanceof UnreadableSource)) throw error
        unavailable.add(id)
        await report({ kind: 'unreadable', clientId: id, key: '/', detail: error.message })
        // The earlier copies of its files remain in this backup.
        for await (const entry of entriesOfLast())
          if (entry.client === id && byBytes(entry.key, done) > 0 && objects.hasAll(entry)) yield entry
      }
    }
    for await (const entry of previous.rest()) wasDeleted(entry)
    await requireSource()
  }

  const manifest = { at, entries: entries(), notCopied: () => notCopied, ...waiting }
  const totals = await writeManifest(target, manifest)
  let expired: BackupReport['expired']
  if (keepMs !== undefined) {
    await check()
    expired = await expireBackups(target, { objects, keepMs, ...waiting, report, now }).catch((cause) => {
      throw new Error(`the backup is complete, but old ones could not be deleted: ${cause.message}`, {
        cause,
      })
    })
  }
  return {
    backup: new Date(at).toISOString(),
    files: totals.files,
    bytes: totals.bytes,
    ...counts,
    ...troubles,
    ...(verify ? { verified: verified.files } : {}),
    ...(expired ? { expired } : {}),
  }
}

/** The newest manifest that can be read, and its number of files. A damaged one is reported. @throws Error for a newer version */
async function lastIntact(
  target: Bucket,
  { report, ...waiting }: Waiting & { report(trouble: BackupTrouble): Promise<void> },
): Promise<{ last?: BackupManifest; total?: number }> {
  for (const last of (await listManifests(target)).reverse()) {
    try {
      let total = 0
      const ended = ({ files }: { files: number }) => {
        total = files
      }
      for await (const _ of readManifest(target, last, { ...waiting, ended }));
      return { last, total }
    } catch (error) {
      if (!(error instanceof DamagedManifest)) throw error
      await report({ kind: 'damaged', key: last.key, detail: 'a manifest; an older one is used' })
    }
  }
  return {}
}

async function* noEntries(): AsyncGenerator<BackupEntry> {}
