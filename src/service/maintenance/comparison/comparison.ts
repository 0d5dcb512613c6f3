import { anySignal } from '../../../core/async/any-signal.ts'
import { withExclusiveLock } from '../../../core/async/cross-process-mutex.ts'
import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import type { Log } from '../../../core/log.ts'
import type { ClientStore } from '../../../core/ports/client-store.ts'
import type { FileIndex, IndexedFile } from '../../../core/ports/file-index.ts'
import type { Ledger } from '../../../core/ports/ledger.ts'
import type { Locks } from '../../../core/ports/locks.ts'
import type { Differences } from '../../../core/ports/metrics.ts'
import type { Problem } from '../../../core/problem.ts'
import { walkedClients, withEachClient } from '../each-client.ts'
import type { TakeIn } from '../take-in.ts'
import { CONCURRENCY } from '../walk.ts'
import type { Compared, Pass } from './compare-batch.ts'
import { dueFiles } from './due-files.ts'
import type { Pace } from './pace.ts'
import { FIRST_PLACE, isOver, type Progress, progressIn } from './progress.ts'
import { type Alone, createRanges } from './ranges.ts'

/** Compares the index with the buckets where that is needed. */
export interface Completion {
  /**
   * Compares the index with the buckets when it is new, was emptied, is of an older version, or may have lost its last steps
   * in a restart, failover or restore. Web processes and workers share the work. Otherwise it only makes a few short calls to the
   * index. An interrupted comparison continues where it has stopped, in this process or another one.
   *
   * @throws Problem 503 when a bucket or the index is unavailable, 409 without any client, and `signal.reason`
   */
  complete(signal: AbortSignal): Promise<void>
  /** The comparison in progress, as this process has last seen it. Undefined when none is needed, and until it begins. */
  state(): ComparisonState | undefined
  /** What the comparisons of this process have changed since its start, in files. */
  differences(): Differences
}

/** How far the comparison of the index with all files is. */
export interface ComparisonState {
  /** Originals that were compared. Begins again at 0 when lists are complete, and derivatives are compared. */
  files: number
  /** About how many there are. Absent while lists or counters are incomplete. */
  total?: number
}

const LIMIT_MS = 7 * 24 * 3_600_000
const PAUSE_PER_WORK = 10
const MOST_PAUSE_MS = 60_000
const LOGGED_EVERY_MS = 60_000

export function createCompletion({
  index,
  ledger,
  clients,
  locks,
  log,
  takeIn,
  pace,
  now = Date.now,
  ...parts
}: Omit<Parameters<typeof createRanges>[0], 'progress' | 'reached' | 'alone'> & {
  index: FileIndex
  ledger: Ledger
  clients: ClientStore
  locks: Locks
  log: Log
  takeIn: Pick<TakeIn, 'indexed'>
  pace: Pace
  now?: () => number
}): Completion {
  // While one bucket is down, the others must not be read again every few seconds.
  let waitUntil = 0
  let seen: ComparisonState | undefined
  let loggedAt = now()
  const differences: Differences = { added: 0, removed: 0, failed: 0 }
  const progress = progressIn(ledger, now)
  const alone: Alone = (name, work, signal) =>
    withExclusiveLock(
      locks,
      `index comparison: ${name}`,
      // The lock continues the work for those that wait for it, although this process is stopping.
      (held) => {
        const joined = anySignal([held, signal])
        return work(joined.signal).finally(joined.leave)
      },
      { signal, limitMs: LIMIT_MS },
    )
  const ranges = createRanges({ ...parts, index, clients, alone, progress, reached })

  // When the process dies before this, the next comparison reports these files: they still differ.
  async function reached({ added, removed, findings }: Compared): Promise<void> {
    differences.added += added
    differences.removed += removed
    differences.failed += findings.length
    for (const finding of findings) log.warn({ ...finding }, 'a file could not be added to the index')
    seen = stateOf((await current()).known)
    if (!seen || now() - loggedAt < LOGGED_EVERY_MS) return
    loggedAt = now()
    log.info({ ...seen }, 'the index is compared with all files')
  }

  /**
   * True when lists, counters or the search are incomplete, or when the store was restarted: it
   * may have lost its last steps, so deleted files may be listed again. Also while a comparison is not finished: a store that does not
   * name its runs notes its end nowhere else.
   */
  async function isNeeded(): Promise<boolean> {
    const { id, data, isCompared } = await index.run()
    if ((id !== undefined && !isCompared) || !(await index.isWhole())) return true
    return (await progress.find())?.run === (id ?? data)
  }

  /** The run of the index, and the comparison that has begun in it. */
  async function current(): Promise<{ run: string; known: Progress | undefined }> {
    const [known, { id, data }] = [await progress.find(), await index.run()]
    const run = id ?? data
    return { run, known: known?.run === run ? known : undefined }
  }

  /** How a pass begins. */
  async function begunPass(
    pass: Pass,
  ): Promise<Pick<Progress, 'pass' | 'files' | 'total' | 'next' | 'ranges'>> {
    const begun = { pass, files: 0, next: FIRST_PLACE, ranges: [] }
    if (pass === 'originals') return begun
    let total = 0
    for (const { id } of await walkedClients(clients, undefined))
      for (const state of ['stored', 'trashed'] as const)
        total += (await index.folderCount(id, state, '')).files
    return { ...begun, total }
  }

  /** The comparison in this run of the index. @returns undefined when another process has just ended it */
  async function begun(signal: AbortSignal): Promise<Progress | undefined> {
    const { known } = await current()
    if (known) return known
    return alone(
      'begin',
      async () => {
        const { run, known } = await current()
        if (known || !(await isNeeded())) return known
        const first = await begunPass((await index.isWhole()) ? 'all' : 'originals')
        await progress.begin({ run, startedAt: now(), added: 0, removed: 0, ...first })
        return (await current()).known
      },
      signal,
    )
  }

  /** Adds entries that an older version has left out of its lists, and whose record the bucket does not have: they are removed by the next pass. */
  async function listLeftOut(signal: AbortSignal): Promise<void> {
    const isDue = dueFiles(index, 'originals')
    const work = async (file: IndexedFile) => {
      // The pass has noted the tags of all others.
      const hasTag = 'record' in file.original && file.original.recordTag !== undefined
      if (!hasTag && (await isDue(file.ref))) await takeIn.indexed(file)
    }
    async function* paced() {
      for await (const file of index.list()) {
        yield file
        await pace.rest(signal, { isUrgent: true })
      }
    }
    for await (const _ of mapConcurrent(paced(), { concurrency: CONCURRENCY, signal, work }));
  }

  /**
   * Counts the files of folders again, and notes in the index what the pass has compared.
   * @returns whether the comparison is over. False also when another one has begun
   */
  async function endPass({ run, pass }: Progress, signal: AbortSignal): Promise<boolean> {
    const last = await progress.find()
    if (last?.run !== run || last.pass !== pass || !isOver(last)) return false
    const { isListed, recounted, ...finished } = last
    if (pass === 'originals' && !isListed) {
      await listLeftOut(signal)
      if (!(await progress.noteEnd(last, { isListed: true }))) return false
    }
    let isEnded = false
    await withEachClient(clients, undefined, async ({ id }) => {
      if (isEnded || (recounted !== undefined && id <= recounted)) return
      await index.recount(id, { repair: true, signal })
      isEnded = !(await progress.noteEnd(last, { recounted: id }))
      await pace.rest(signal)
    })
    if (isEnded) return false
    signal.throwIfAborted()
    // An index that was emptied or replaced since the start has lost the entries of this run.
    if (pass === 'originals') await index.markComplete(run)
    // With another version's lists or search, the index may be compared already.
    if (pass === 'originals' && !(await index.run()).isCompared) {
      await progress.endPass(last, { ...finished, ...(await begunPass('all')) })
      return false
    }
    const { id } = await index.run()
    if (id !== undefined && pass === 'all') await index.noteCompared(run)
    const { files, added, removed, startedAt } = last
    if ((await progress.endPass(last)) && files + removed > 0)
      log.info({ files, added, removed, ms: now() - startedAt }, 'compared the index with all files')
    return true
  }

  async function compareAll(signal: AbortSignal): Promise<void> {
    const failures = new Map<string, Problem>()
    for (let isContinued = false; ; isContinued = true) {
      signal.throwIfAborted()
      const compared = await begun(signal)
      if (!compared) return
      const { files } = compared
      seen = stateOf(compared)
      if (!isContinued && files > 0)
        log.info({ files }, 'the comparison of the index with all files continues')
      if (await ranges.compareOne(compared, failures, signal)) continue
      for (const failure of failures.values()) throw failure
      if (await alone('end of a pass', (held) => endPass(compared, held), signal)) return
    }
  }

  return {
    state: () => seen,
    differences: () => differences,

    async complete(signal) {
      if (!(await isNeeded())) {
        seen = undefined
        return
      }
      seen = stateOf((await current()).known)
      if (performance.now() < waitUntil) return
      const startedAt = performance.now()
      loggedAt = now()
      pace.begin()
      try {
        await compareAll(signal)
        seen = undefined
      } catch (error) {
        const endedAt = performance.now()
        waitUntil = endedAt + Math.min(MOST_PAUSE_MS, PAUSE_PER_WORK * (endedAt - startedAt))
        throw error
      } finally {
        pace.end()
      }
    },
  }
}

function stateOf(progress: Progress | undefined): ComparisonState | undefined {
  if (!progress) return undefined
  const { files, total } = progress
  // Files that were uploaded since the start are compared, too.
  return total === undefined ? { files } : { files, total: Math.max(files, total) }
}
