import type { BackupTrouble } from '../../core/backup/report.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { Content } from './checked-bytes.ts'
import { createDigestSet } from './digest-set.ts'
import { type BackupManifest, DamagedManifest, listManifests, readManifest } from './manifest.ts'
import { type BackupObjects, keyOf } from './objects.ts'

interface Reading {
  signal: AbortSignal
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
  if (!(await areIntact(target, remaining, reading))) return { backups: 0, objects: 0 }
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
  {
    has,
    isReported,
    ...reading
  }: Reading & Pick<BackupObjects, 'has'> & { isReported: BackupObjects['has'] },
): Promise<void> {
  const manifests = await listManifests(target)
  const missing = createDigestSet()
  for (const manifest of manifests) {
    try {
      for await (const content of contentsOf(target, [manifest], reading)) {
        if (has(content) || isReported(content) || missing.has(content)) continue
        missing.add(content)
        await reading.report({ kind: 'missing', key: keyOf(content), detail: `of ${manifest.key}` })
      }
    } catch (error) {
      reading.signal.throwIfAborted()
      if (!(error instanceof DamagedManifest)) throw error
      await reading.report({ kind: 'damaged', key: manifest.key, detail: 'a manifest' })
    }
  }
}

async function areIntact(target: Bucket, manifests: BackupManifest[], { signal, report }: Reading) {
  for (const manifest of manifests)
    try {
      for await (const _ of readManifest(target, manifest, { signal }));
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof DamagedManifest)) throw error
      await report({
        kind: 'damaged',
        key: manifest.key,
        detail: 'a manifest. Delete it: until then nothing expires',
      })
      return false
    }
  return true
}

async function* contentsOf(
  target: Bucket,
  manifests: BackupManifest[],
  { signal }: Reading,
): AsyncGenerator<Content> {
  for (const manifest of manifests)
    for await (const entry of readManifest(target, manifest, { signal })) {
      yield entry
      if (entry.original) yield entry.original
    }
}
