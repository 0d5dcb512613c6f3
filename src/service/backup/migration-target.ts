import { z } from 'zod'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import {
  classifyKey,
  clientRecordKey,
  type ObjectKey,
  RECORDS,
  recordPrefix,
  storedKey,
} from '../../core/files/object-key.ts'
import { foreignDerivatives } from '../../core/foreign/foreign-path.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import type { Installation } from './installation.ts'
import { joined } from './sides.ts'

const CHECKS = `${RECORDS}/check/`

// Clocks of several machines may differ, and a copy takes a time.
const MARGIN_MS = 120_000

/** Has the time of the last step of a migration to this bucket. */
export const MIGRATION_KEY = storedKey(`${CHECKS}migration.json`)

/** Whether an object is copied, or deleted with its source. Other programs may use both buckets. */
export function isMoved(
  key: ObjectKey,
  { withoutDerivatives, isForeign }: { withoutDerivatives: boolean; isForeign(key: string): boolean },
): boolean {
  if (key.startsWith(CHECKS)) return false
  if (withoutDerivatives && key.startsWith(foreignDerivatives)) return false
  const kind = classifyKey(key)?.kind
  if (kind === 'derivative' || kind === 'part') return !withoutDerivatives
  return kind !== undefined || key.startsWith(`${RECORDS}/`) || isForeign(key)
}

/**
 * Checks that a target is empty, or the copy of this installation.
 *
 * @returns when the last migration to it was at work, in milliseconds since 1970; undefined for an empty target
 * @throws Error when it has other files
 */
export async function requireSameInstallation(
  installation: Installation,
  target: Bucket,
): Promise<number | undefined> {
  const key = clientRecordKey(FIRST_CLIENT_ID)
  const [own, other, mark] = await Promise.all([
    snapshot(installation.first, key),
    snapshot(target, key),
    snapshot(target, MIGRATION_KEY),
  ])
  const tokenIn = (bytes: Buffer | undefined) =>
    bytes && z.object({ token: z.string() }).safeParse(JSON.parse(bytes.toString('utf8'))).data?.token
  if (mark && (!other || tokenIn(other.bytes) === tokenIn(own?.bytes)))
    return z.object({ at: z.number() }).parse(JSON.parse(mark.bytes.toString('utf8'))).at
  for await (const found of target.list(''))
    if (classifyKey(found) || found.startsWith(`${RECORDS}/`))
      throw new Error(
        `the target has files already, which no migration has copied: ${found}. Choose an empty one`,
      )
  return undefined
}

/**
 * After the switch, the target has files that the source has never had. A run would delete them.
 * @throws Error when it has a file that was stored after the last run
 */
export async function requireUnused(
  {
    installation,
    targetOf,
    signal,
  }: {
    installation: Installation
    targetOf(client: Pick<Client, 'id' | 'token'>): Bucket
    signal: AbortSignal
  },
  lastMark: number,
): Promise<void> {
  for (const client of await installation.clients()) {
    if (client.storage) continue
    const target = targetOf(client)
    const records = joined(
      installation.bucketOf(client).listObjects(recordPrefix),
      target.listObjects(recordPrefix),
    )
    for await (const pair of records) {
      signal.throwIfAborted()
      if (pair.source || !pair.target) continue
      const record = await snapshot(target, pair.target.key)
      const stored = record && storedAt.safeParse(JSON.parse(record.bytes.toString('utf8')))
      if (stored?.success && stored.data.storedAt > lastMark + MARGIN_MS)
        throw new Error(
          `the target has ${pair.target.key}, which was stored there after the last run: a service uses the target already. Nothing was changed`,
        )
    }
  }
}

const storedAt = z.object({ storedAt: z.number() })
