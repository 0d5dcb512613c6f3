import { z } from 'zod'
import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import { migrationKey, migrationRunKey, migrationStateKey } from '../../../core/backup/place.ts'
import type { BackupProgress, BackupTrouble, MigrationReport } from '../../../core/backup/report.ts'
import { FIRST_CLIENT_ID } from '../../../core/clients/client.ts'
import { clientRecordPrefix, recordPrefix } from '../../../core/files/object-key.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import { Problem } from '../../../core/problem.ts'
import { noClients } from '../../maintenance/each-client.ts'
import { troubleKind } from '../checked-bytes.ts'
import { type ClaimedTarget, type ClaimOptions, withClaim } from '../claim.ts'
import { type EarlierEntries, earlierEntries } from '../earlier-entries.ts'
import { identityOf } from '../installation.ts'
import { putLines, readLines } from '../lines.ts'
import { byClient } from '../manifest.ts'
import { persistently, type Waiting } from '../persistence.ts'
import { createFollow, type Followed, type FollowOptions, type Outcome, type Owner } from './follow.ts'
import { joined } from './sides.ts'
import { isMoved, requireEmpty } from './target.ts'

export interface MigrateOptions
  extends Omit<FollowOptions, keyof ClaimedTarget>,
    Waiting,
    Pick<ClaimOptions, 'repeat' | 'now'> {
  /** Whether derivatives are left out, which are rendered again. */
  withoutDerivatives: boolean
  found(trouble: BackupTrouble): Promise<void>
  progress(progress: BackupProgress): Promise<void>
}

const AT_ONCE = 8
const PASSES_MAX = 10

const equal = z.object({ client: z.string(), key: z.string(), tag: z.string() })

/** An object that may change, of which the target has the bytes that the source has with this tag. */
type Equal = z.infer<typeof equal>

/**
 * Makes the target have the same objects as the installation, also while the service runs: passes follow its changes until one
 * finds none. The objects of clients with buckets of their own are there already. What is deleted at the source in the meantime is
 * deleted at the target. The next run compares the bytes only of what has changed since this one.
 *
 * @throws Error when the target has other files, or another run or a service uses it; Problem when a side is unavailable;
 *   `signal.reason`
 */
export async function migrate(options: MigrateOptions): Promise<MigrationReport> {
  const { installation, targetOf, signal, now, repeat } = options
  const first = targetOf({ id: FIRST_CLIENT_ID, token: '' })
  const clients = await installation.clients()
  if (clients.length === 0) throw noClients()
  if (!(await first.find(migrationKey))) await requireEmpty(first)
  const keys = { mark: migrationKey, run: migrationRunKey }
  const claim = { keys, installation: identityOf(clients), signal, now, repeat }
  return withClaim(first, claim, (claimed) => run({ ...options, ...claimed }, first))
}

async function run(options: MigrateOptions & ClaimedTarget, first: Bucket): Promise<MigrationReport> {
  const { installation, targetOf, found, progress, check, signal, pause } = options
  const follow = createFollow(options)
  const report = { passes: 0, isComplete: false, files: 0, copied: 0, copiedBytes: 0, deleted: 0 }
  const notCopied = new Set<string>()
  let changes = 0
  let looked = 0

  async function followed(owner: Owner, object: Followed): Promise<Outcome | undefined> {
    const { key } = object
    if (object.source && key.startsWith(recordPrefix)) report.files += 1
    try {
      return await persistently(() => follow(owner, object), { signal, pause })
    } catch (error) {
      signal.throwIfAborted()
      const kind = troubleKind(error)
      const name = `${owner.id} ${key}`
      if (!notCopied.has(name))
        await found({ kind, clientId: owner.id, key, detail: (error as Error).message })
      notCopied.add(name)
      return undefined
    }
  }

  /** Follows all objects of a client. Yields those that may change and are equal now, in the order of their keys. */
  async function* followAll(owner: Owner, earlier: EarlierEntries<Equal>): AsyncGenerator<Equal> {
    const { id: client } = owner
    async function* objects(): AsyncGenerator<Followed> {
      const sides = joined(installation.bucketOf(owner).listObjects(''), targetOf(owner).listObjects(''))
      for await (const pair of sides) {
        // A derivative that an earlier run has copied is deleted with its source.
        const withoutDerivatives = options.withoutDerivatives && pair.source !== undefined
        if (!isMoved(pair.key, { ...options, withoutDerivatives })) continue
        yield { ...pair, equalTag: (await earlier.at({ client, key: pair.key }))?.tag }
      }
    }
    const work = async (object: Followed) => ({ key: object.key, outcome: await followed(owner, object) })
    const all = mapConcurrent(objects(), { concurrency: AT_ONCE, signal, work })
    for await (const { key, outcome } of all) {
      looked += 1
      await progress({ files: looked, bytes: report.copiedBytes, done: 'copied' })
      if (!outcome) continue
      const { change, bytes, equalTag: tag } = outcome
      if (change !== 'none') {
        changes += 1
        report[change] += 1
        report.copiedBytes += bytes
      }
      if (tag !== undefined) yield { client, key, tag }
    }
  }

  async function pass(): Promise<void> {
    report.passes += 1
    report.files = 0
    changes = 0
    looked = 0
    const clients = await installation.clients()
    if (clients.length === 0) throw noClients()
    // Before their records at the target are deleted: later, no run would find their files.
    for (const id of await idsAt(first))
      if (!clients.some((one) => one.id === id))
        for await (const _ of followAll({ id, token: '' }, earlierEntries(nothing())));
    const owners = clients.filter(({ storage }) => !storage).sort((one, other) => byClient(one.id, other.id))
    const earlier = earlierEntries(equalBefore(first))
    let failure: unknown
    async function* lines(): AsyncGenerator<Equal> {
      try {
        for (const owner of owners) yield* followAll(owner, earlier)
      } catch (error) {
        failure = error
        await check()
        yield* earlier.rest()
      }
    }
    // Of an interrupted run, too.
    await putLines(first, migrationStateKey, { lines: lines(), signal: new AbortController().signal })
    if (failure) throw failure
  }

  while (!report.isComplete && report.passes < PASSES_MAX) {
    await pass()
    report.isComplete = changes === 0
  }
  return { ...report, isComplete: report.isComplete && notCopied.size === 0, notCopied: notCopied.size }
}

/** The IDs of the clients whose records the target has. */
async function idsAt(first: Bucket): Promise<string[]> {
  const ids: string[] = []
  for await (const key of first.list(clientRecordPrefix))
    ids.push(key.slice(clientRecordPrefix.length, -'.json'.length))
  return ids
}

/** What the last pass has found equal. Without it, or when it is damaged, the bytes of both sides are compared. */
async function* equalBefore(first: Bucket): AsyncGenerator<Equal> {
  try {
    const lines = await readLines(first, migrationStateKey, { signal: new AbortController().signal })
    for await (const line of lines ?? []) yield equal.parse(line)
  } catch (error) {
    if (error instanceof Problem) throw error
  }
}

async function* nothing(): AsyncGenerator<Equal> {}
