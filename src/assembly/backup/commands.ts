import { z } from 'zod'
import type { BackupConnection } from '../../../config/backup-target.ts'
import type { Config } from '../../../config/load.ts'
import type { ListedBackup } from '../../core/backup/report.ts'
import type { Commands } from '../../core/command.ts'
import { foreignTest } from '../../core/foreign/foreign-path.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { command, throttledProgress } from '../../service/admin/commands.ts'
import { backUp } from '../../service/backup/backup.ts'
import { type BackupManifest, listManifests, totalsOf } from '../../service/backup/manifest.ts'
import { migrate } from '../../service/backup/migration/migrate.ts'
import { restore } from '../../service/backup/restore.ts'
import { openInstallation } from './installation.ts'
import { openNewHome, openTarget } from './target.ts'

const place = z.union([
  z.strictObject({ path: z.string() }),
  z.strictObject({ bucket: z.string(), prefix: z.string() }),
])

const selection = z.strictObject({ clientId: z.string(), keys: z.array(z.string()) })

/** The commands that work on the buckets alone: they need no index, and run next to the service or without one. */
export function backupCommands(options: { config: Config; connection: BackupConnection }): Commands {
  const { config } = options
  return {
    backup: command(
      z.strictObject({ place, verify: z.boolean(), keepMs: z.int().min(1).optional() }),
      async ({ place, verify, keepMs }, { signal, report }) => {
        const installation = await openInstallation(config, { mayBeNew: false })
        const { bucket, sweep } = await openTarget(place, {
          ...options,
          isReadOnly: false,
          clients: await installation.clients(() => {}),
        })
        await sweep()
        return backUp({ installation, target: bucket, verify, keepMs, ...run({ signal, report }) })
      },
    ),
    restore: command(
      z.strictObject({
        place,
        at: z.number().optional(),
        overwrite: z.boolean(),
        only: selection.optional(),
      }),
      async ({ place, at, overwrite, only }, { signal, report }) => {
        const installation = await openInstallation(config, { mayBeNew: true })
        const { bucket } = await openTarget(place, {
          ...options,
          isReadOnly: true,
          clients: await installation.clients(() => {}),
        })
        return restore({ installation, source: bucket, at, overwrite, only, ...run({ signal, report }) })
      },
    ),
    migrate: command(
      z.strictObject({ place, withoutDerivatives: z.boolean() }),
      async ({ place, ...what }, { signal, report }) => {
        const installation = await openInstallation(config, { mayBeNew: false })
        const clients = await installation.clients()
        const { buckets, placeOf, settings } = await openNewHome(place, { ...options, clients })
        const result = await migrate({
          installation,
          targetOf: (client) => buckets.of(client),
          placeOf,
          isForeign: foreignTest(config.FOREIGN_PREFIXES ?? []),
          ...what,
          ...run({ signal, report }),
        })
        return { ...result, settings }
      },
    ),
    'restore --list': command(
      z.strictObject({ place }),
      async ({ place }, { signal, report }): Promise<ListedBackup[]> => {
        const { bucket } = await openTarget(place, { ...options, isReadOnly: true, clients: [] })
        const listed: ListedBackup[] = []
        for (const manifest of (await listManifests(bucket)).reverse()) {
          const row = await listedBackup(bucket, manifest, signal)
          await report({ listed: row })
          listed.push(row)
        }
        return listed
      },
    ),
  }
}

async function listedBackup(
  bucket: Bucket,
  manifest: BackupManifest,
  signal: AbortSignal,
): Promise<ListedBackup> {
  const backup = new Date(manifest.at).toISOString()
  try {
    const totals = await totalsOf(bucket, manifest, { signal })
    return { backup, ...(totals ? { files: totals.files, notCopied: totals.notCopied } : {}) }
  } catch (error) {
    signal.throwIfAborted()
    return { backup, unreadable: (error as Error).message }
  }
}

function run({ signal, report }: { signal: AbortSignal; report(item: unknown): Promise<void> }) {
  return {
    signal,
    found: (trouble: object) => report({ trouble }),
    progress: throttledProgress(report),
  }
}
