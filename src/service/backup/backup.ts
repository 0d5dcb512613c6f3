import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { BackupProgress, BackupReport, BackupTrouble } from '../../core/backup/report.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { clientRecordKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { byBytes } from '../../core/text/byte-order.ts'
import { noClients } from '../maintenance/each-client.ts'
import { UnreadableSource } from './checked-bytes.ts'
import { createDigestSet } from './digest-set.ts'
import { entryOf, type Pair, pairs } from './entries.ts'
import { checkManifests, expireBackups } from './expire.ts'
import type { Installation } from './installation.ts'
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
import { type Pause, persistently } from './persistence.ts'
import { entriesFrom } from './previous.ts'

export interface BackupOptions {
  installation: Installation
  target: Bucket
  /** Reads all objects of the backup, and each one that is added, and compares their SHA-256. */
  verify: boolean
  /** Deletes backups that are older, except the newest one, and the objects that only they use. Undefined: deletes nothing. */
  keepMs?: number | undefined
  signal: AbortSignal
  found(trouble: BackupTrouble): Promise<void>
  progress(progress: BackupProgress): Promise<void>
  now?: () => number
  pause?: Pause | undefined
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
 * @throws Problem or Error when the installation has no clients, or the target cannot be used; `signal.reason`
 */
export async function backUp(options: BackupOptions): Promise<BackupReport> {
  const { installation, target, verify, keepMs, signal, found, progress, pause, now = Date.now } = options
  const at = now()
  const counts = { new: 0, unchanged: 0, deleted: 0, records: 0, copiedBytes: 0 }
  const troubles = { missing: 0, damaged: 0, unreadable: 0, differs: 0 }
  const reported = new Set<string>()
  const report = async (trouble: BackupTrouble) => {
    // Several steps read the manifests.
    if (trouble.clientId === undefined && reported.has(trouble.key)) return
    if (trouble.kind === 'damaged' && trouble.clientId === undefined) reported.add(trouble.key)
    troubles[trouble.kind] += 1
    await found(trouble)
  }
  let verified = 0
  const damagedClients = new Map<string, string>()
  const known = await installation.clients((id, detail) => damagedClients.set(id, detail))
  const clients = [...known.map(({ id }) => id), ...damagedClients.keys()].sort(byClient)
  if (clients.length === 0) throw noClients()
  const damagedObjects = createDigestSet()
  const objects = await openObjects(target, {
    verify,
    signal,
    now,
    pause,
    async damaged({ key, sha256, detail }) {
      damagedObjects.add({ size: 0, sha256 })
      await report({ kind: 'damaged', key, detail })
    },
    async verified() {
      verified += 1
      await progress({ files: verified, bytes: 0 })
    },
  })
  const isReported = ({ sha256 }: { sha256: string }) => damagedObjects.has({ size: 0, sha256 })
  if (verify) await checkManifests(target, { has: objects.has, isReported, signal, report })

  const own = identityOf(known)
  let files = 0
  const damagedKeys = new Set<string>([...damagedClients.keys()].map(clientRecordKey))
  const unavailable = new Set<string>()
  const { last, total } = await lastIntact(target, { signal, report, own })
  const previous = entriesFrom(last ? readManifest(target, last, { signal }) : [], (entry) => {
    if (entry.original && !unavailable.has(entry.client)) counts.deleted += 1
  })

  async function* entries(): AsyncGenerator<BackupEntry> {
    for (const id of clients) {
      let done = ''
      try {
        const client = known.find((one) => one.id === id)
        if (!client) throw new UnreadableSource(new Error(damagedClients.get(id)))
        const bucket = installation.bucketOf(client)
        const copying = { objects, bucket, client, signal, report, counts }
        const work = async (pair: Pair) => {
          // An earlier copy of the record of a damaged client remains.
          if (id === FIRST_CLIENT_ID && damagedKeys.has(pair.object.key)) return pair.before
          return persistently(() => entryOf(pair, copying), { signal, pause })
        }
        for await (const entry of mapConcurrent(pairs(client, { bucket, previous }), {
          concurrency: AT_ONCE,
          signal,
          work,
        })) {
          if (!entry) continue
          done = entry.key
          if (entry.original) files += 1
          yield entry
          await progress({ files, bytes: counts.copiedBytes, ...(total === undefined ? {} : { total }) })
        }
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof UnreadableSource)) throw error
        unavailable.add(id)
        await report({ kind: 'unreadable', clientId: id, key: '/', detail: error.message })
        // The earlier copies of its files remain in this backup.
        if (last)
          for await (const entry of readManifest(target, last, { signal }))
            if (entry.client === id && byBytes(entry.key, done) > 0 && objects.has(entry)) yield entry
      }
    }
    await previous.end()
  }

  const totals = await writeManifest(target, { at, installation: own, entries: entries(), signal })
  const expired =
    keepMs === undefined ? undefined : await expireBackups(target, { objects, keepMs, signal, report, now })
  const { differs: _, ...problems } = troubles
  return {
    backup: new Date(at).toISOString(),
    files: totals.files,
    bytes: totals.bytes,
    ...counts,
    ...problems,
    ...(verify ? { verified } : {}),
    ...(expired ? { expired } : {}),
  }
}

/** The newest manifest that can be read, and its number of files. A damaged one is reported. @throws Error for a newer version */
async function lastIntact(
  target: Bucket,
  {
    signal,
    report,
    own,
  }: { signal: AbortSignal; report(trouble: BackupTrouble): Promise<void>; own: string | undefined },
): Promise<{ last?: BackupManifest; total?: number }> {
  for (const last of (await listManifests(target)).reverse()) {
    try {
      let total = 0
      let installation: string | undefined
      const begun = (stated: string | undefined) => {
        installation = stated
      }
      const ended = ({ files }: { files: number }) => {
        total = files
      }
      for await (const _ of readManifest(target, last, { signal, begun, ended }));
      if (own !== undefined && installation !== undefined && own !== installation)
        throw new Error('the target has backups of another installation. Choose another folder or prefix')
      return { last, total }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof DamagedManifest)) throw error
      await report({ kind: 'damaged', key: last.key, detail: 'a manifest; an older one is used' })
    }
  }
  return {}
}

/** The same for all backups of an installation: when its first client was created. */
function identityOf(clients: readonly Client[]): string | undefined {
  const first = clients.find(({ id }) => id === FIRST_CLIENT_ID)
  return first && sha256(`${first.id} ${first.createdAt}`).slice(0, 16)
}
