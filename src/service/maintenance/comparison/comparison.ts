import { withExclusiveLock } from '../../../core/async/cross-process-mutex.ts'
import type { Log } from '../../../core/log.ts'
import type { ClientStore } from '../../../core/ports/client-store.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { Ledger } from '../../../core/ports/ledger.ts'
import type { Locks } from '../../../core/ports/locks.ts'
import { walkedClients, withEachClient } from '../each-client.ts'
import type { Compared } from './compare-batch.ts'
import { isWhole } from './due.ts'
import { type Progress, progressIn } from './progress.ts'
import { createRanges } from './ranges.ts'

/** Compares the index with the buckets where that is needed. */
export interface Completion {
  /**
   * Compares the index with the buckets when it is new, was emptied, is of an older version, or may have lost its last steps
   * in a restart, failover or restore. All processes that call this share the work. Otherwise it only makes two short calls to the
   * index. An interrupted comparison continues where it has stopped, in this process or another one.
   */
  complete(signal: AbortSignal): Promise<void>
  /** The comparison in progress, as this process has last seen it. Undefined when none is needed, and until it has compared a file. */
  state(): ComparisonState | undefined
}

/** How far the comparison of the index with all files is. */
export interface ComparisonState {
  /** Originals that were compared. */
  files: number
  /** About how many there are. Absent when the index was emptied. */
  total?: number
}

const LIMIT_MS = 7 * 24 * 3_600_000
const PAUSE_PER_WORK = 10
const MOST_PAUSE_MS = 60_000
const TOLD_EVERY_MS = 60_000

export function createCompletion({
  index,
  ledger,
  clients,
  locks,
  log,
  now = Date.now,
  ...parts
}: Omit<Parameters<typeof createRanges>[0], 'progress' | 'reached'> & {
  index: FileIndex
  ledger: Ledger
  clients: ClientStore
  locks: Locks
  log: Log
  now?: () => number
}): Completion {
  // While one bucket is down, the others must not be read again every few seconds.
  let waitUntil = 0
  let seen: ComparisonState | undefined
  let toldAt = Number.NEGATIVE_INFINITY
  const progress = progressIn(ledger, now)
  const ranges = createRanges({ ...parts, index, clients, locks, progress, reached })

  async function reached({ findings }: Compared): Promise<void> {
    for (const finding of findings) log.warn({ ...finding }, 'a file could not be added to the index')
    seen = stateOf(await progress.find())
    if (!seen || now() - toldAt < TOLD_EVERY_MS) return
    toldAt = now()
    log.info({ ...seen }, 'the index is compared with all files')
  }

  /**
   * True when lists, counters or the search are incomplete, or when the store was restarted: it
   * may have lost its last steps, so deleted files may be listed again.
   */
  async function isNeeded(): Promise<boolean> {
    const { id, isCompared } = await index.run()
    return (id !== undefined && !isCompared) || !(await isWhole(index))
  }

  async function totalFiles(): Promise<number | undefined> {
    if (!(await isWhole(index))) return undefined
    let total = 0
    for (const { id } of await walkedClients(clients, undefined))
      for (const state of ['stored', 'trashed'] as const)
        total += (await index.folderCount(id, state, '')).files
    return total
  }

  /** The comparison in this run of the index. @returns undefined when another process has just ended it */
  async function begun(signal: AbortSignal): Promise<Progress | undefined> {
    const current = async () => {
      const [known, { id: run = '' }] = [await progress.find(), await index.run()]
      return { run, known: known?.run === run ? known : undefined }
    }
    const { known } = await current()
    if (known) return known
    return withExclusiveLock(
      locks,
      'index comparison: begin',
      async () => {
        const { run, known } = await current()
        if (known || !(await isNeeded())) return known
        const total = await totalFiles()
        const first = {
          run,
          startedAt: now(),
          files: 0,
          ...(total === undefined ? {} : { total }),
          added: 0,
          removed: 0,
          next: { clientId: '', after: '' },
          ranges: [],
        }
        await progress.begin(first)
        return first
      },
      { signal, limitMs: LIMIT_MS },
    )
  }

  /** Counts the files of folders again, and notes in the index that it was compared. */
  async function end(run: string, signal: AbortSignal): Promise<null> {
    const last = await progress.find()
    if (last?.run !== run || last.next || last.ranges.length > 0) return null
    await withEachClient(clients, undefined, async ({ id }) => {
      await index.recount(id, { repair: true, signal })
    })
    // An index that was emptied or replaced since the start has lost the entries of this run.
    await index.markComplete(run || undefined)
    if (run) await index.noteCompared(run)
    await progress.end()
    const { files, added, removed, startedAt } = last
    if (files + removed > 0)
      log.info({ files, added, removed, ms: now() - startedAt }, 'compared the index with all files')
    return null
  }

  async function compareAll(signal: AbortSignal): Promise<void> {
    for (let isContinued = false; ; isContinued = true) {
      signal.throwIfAborted()
      const current = await begun(signal)
      if (!current) return
      const { run, files } = current
      if (!isContinued && files > 0)
        log.info({ files }, 'the comparison of the index with all files continues')
      if (await ranges.compareNext(current, signal)) continue
      const { ranges: left = [] } = (await progress.find()) ?? {}
      if (left[0]) {
        await ranges.compareLeft(run, left[0], signal)
        continue
      }
      await locks.share('index comparison: end', (held) => end(run, held), { signal, limitMs: LIMIT_MS })
      return
    }
  }

  return {
    state: () => (seen && seen.files > 0 ? seen : undefined),

    async complete(signal) {
      if (!(await isNeeded())) {
        seen = undefined
        return
      }
      seen = stateOf(await progress.find()) ?? seen
      if (performance.now() < waitUntil) return
      const startedAt = performance.now()
      try {
        await compareAll(signal)
        seen = undefined
      } catch (error) {
        const endedAt = performance.now()
        waitUntil = endedAt + Math.min(MOST_PAUSE_MS, PAUSE_PER_WORK * (endedAt - startedAt))
        throw error
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
