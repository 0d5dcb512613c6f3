import type { Bucket } from '../../core/ports/bucket.ts'
import { createDigestSet } from './digest-set.ts'
import { listManifests, readManifest } from './manifest.ts'
import type { BackupObjects } from './objects.ts'

/**
 * Deletes the backups that are older than `keepMs`, except the newest one, and then the objects that no backup uses. When it is
 * interrupted, the next run deletes the rest.
 *
 * @throws Error when a remaining manifest is damaged: it might use any object
 */
export async function expireBackups(
  target: Bucket,
  {
    objects,
    keepMs,
    signal,
    now,
  }: { objects: BackupObjects; keepMs: number; signal: AbortSignal; now: () => number },
): Promise<{ backups: number; objects: number }> {
  const manifests = await listManifests(target)
  const newest = manifests.pop()
  const isOld = ({ at }: { at: number }) => at < now() - keepMs
  const old = manifests.filter(isOld)
  if (old.length > 0) {
    const { failed } = await target.delete(old.map(({ key }) => key))
    if (failed[0]) throw failed[0].error
  }
  const used = createDigestSet()
  for (const manifest of [...manifests.filter((one) => !isOld(one)), ...(newest ? [newest] : [])])
    for await (const entry of readManifest(target, manifest, { signal })) {
      used.add(entry)
      if (entry.original) used.add(entry.original)
    }
  return { backups: old.length, objects: await objects.prune(used, signal) }
}
