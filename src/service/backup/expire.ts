import type { BackupTrouble } from '../../core/backup/report.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { Content } from './checked-bytes.ts'
import { createDigestSet } from './digest-set.ts'
import { type BackupManifest, DamagedManifest, listManifests, readManifest } from './manifest.ts'
import { type BackupObjects, keyOf } from './objects.ts'
import type { Waiting } from './persistence.ts'

interface Reading extends Waiting {
  report(trouble: BackupTrouble): Promise<void>
}

/**
 * Deletes the backups that are older than `keepMs`, except the newest one, and then the objects that no backup uses. When it is
 * interrupted, the next run deletes the rest. While a remaining manifest is damaged nothing is deleted, since it might use any object.
 */
export async function expireBackups(
  target: Bucket,
  {
    objects,
    keepMs,
    now,
    ...reading
  }: Reading & { objects: BackupObjects; keepMs: number; now: () => number },
): Promise<{ backups: number; objects: number }> {
  const manifests = await listManifests(target)
  const isOld = ({ at }: BackupManifest) => at < now() - keepMs && at !== manifests.at(-1)?.at
  const remaining = manifests.filter((one) => !isOld(one))
  for (const manifest of remaining)
    if (!(await isIntact(contentsOf(target, [manifest], reading), manifest, reading)))
      return { backups: 0, objects: 0 }
  const old = manifests.filter(isOld)
  if (old.length > 0) {
    const { failed } = await target.delete(old.map(({ key }) => key))
    if (failed[0]) throw failed[0].error
  }
  const used = contentsOf(target, remaining, reading)
  return { backups: old.length, objects: await objects.prune(used, reading.signal) }
}

/** Reports each manifest that is damaged, and each content of a backup that does not exist. */
export async function checkManifests(
  target: Bucket,
  { objects, ...reading }: Reading & { objects: BackupObjects },
): Promise<void> {
  const missing = createDigestSet()
  for (const manifest of await listManifests(target)) {
    const contents = contentsOf(target, [manifest], reading)
    await isIntact(contents, manifest, reading, async (content) => {
      if (objects.has(content) || objects.isDamaged(content) || missing.has(content)) return
      missing.add(content)
      await reading.report({ kind: 'missing', key: keyOf(content), detail: `of ${manifest.key}` })
    })
  }
}

/** Reads a manifest to its end, and reports it when it is damaged. */
async function isIntact(
  contents: AsyncIterable<Content>,
  { key }: BackupManifest,
  { report }: Reading,
  each: (content: Content) => Promise<void> = async () => {},
): Promise<boolean> {
  try {
    for await (const content of contents) await each(content)
    return true
  } catch (error) {
    if (!(error instanceof DamagedManifest)) throw error
    await report({ kind: 'damaged', key, detail: 'a manifest. While it exists, nothing expires' })
    return false
  }
}

async function* contentsOf(
  target: Bucket,
  manifests: BackupManifest[],
  waiting: Waiting,
): AsyncGenerator<Content> {
  for (const manifest of manifests)
    for await (const entry of readManifest(target, manifest, waiting)) {
      yield entry
      if (entry.original) yield entry.original
    }
}
