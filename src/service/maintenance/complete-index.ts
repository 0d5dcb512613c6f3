import type { Log } from '../../core/log.ts'
import type { FileLists, IndexMaintenance } from '../../core/ports/file-index.ts'
import { changeInLedger, type Ledger } from '../../core/ports/ledger.ts'
import type { Locks } from '../../core/ports/locks.ts'
import type { Position, Reindex } from './reindex.ts'

/** Compares the index with the buckets where that is needed. */
export interface Completion {
  /**
   * Compares the index with the buckets when it is new, was emptied, is of an older version, or may have lost its last steps
   * in a restart, failover or restore. One process does this at a time. Otherwise it only makes two short calls to the index.
   * An interrupted comparison continues where it has stopped, in this process or another one.
   */
  complete(signal: AbortSignal): Promise<void>
  /** The comparison in progress, as this process has last seen it. Undefined when none is needed, and until it has compared a file. */
  state(): ComparisonState | undefined
}

/** How far the comparison of the index with all files is. */
export interface ComparisonState {
  /** Originals and derivatives that were compared. */
  files: number
}

// 50 million files take four days.
const LIMIT_MS = 7 * 24 * 3_600_000
const REMEMBERED_MS = 4 * LIMIT_MS
const PAUSE_PER_WORK = 10
const MOST_PAUSE_MS = 60_000
const TOLD_EVERY_MS = 60_000
const NAME = 'index comparison'

/** What the ledger has of an interrupted comparison. An emptied Redis has forgotten it as well. */
interface Noted {
  run: string
  position: Position
  files: number
}

export function createCompletion({
  index,
  ledger,
  locks,
  reindex,
  log,
  now = Date.now,
}: {
  index: FileLists & IndexMaintenance
  ledger: Ledger
  locks: Locks
  reindex: Reindex
  log: Log
  now?: () => number
}): Completion {
  // While one bucket is down, the others must not be read again every few seconds.
  let waitUntil = 0
  let seen: ComparisonState | undefined

  /**
   * True when lists, counters or the search are incomplete, or when the store was restarted: it
   * may have lost its last steps, so deleted files may be listed again.
   */
  async function isNeeded(): Promise<boolean> {
    const { id, isCompared } = await index.run()
    if (id !== undefined && !isCompared) return true
    return !((await index.isComplete()) && (await index.isCounted()) && (await index.canSearch()))
  }

  async function noted(): Promise<Noted | undefined> {
    const text = await ledger.find(NAME)
    return text === undefined ? undefined : (JSON.parse(text) as Noted)
  }

  const note = (what: Noted | undefined) =>
    changeInLedger(ledger, NAME, {
      make: async () => ({ after: what && JSON.stringify(what), result: undefined }),
      forgetAt: now() + REMEMBERED_MS,
    })

  async function fill(signal: AbortSignal): Promise<null> {
    if (!(await isNeeded())) return null
    const startedAt = performance.now()
    const { id: run = '' } = await index.run()
    const before = await noted()
    const last = before?.run === run ? before : undefined
    const state = { files: last?.files ?? 0 }
    seen = state
    if (last) log.info({ files: last.files }, 'the comparison of the index with all files continues')
    let toldAt = startedAt
    const { originals } = await reindex({
      signal,
      from: last?.position,
      async reached(position) {
        await note({ run, position, files: state.files })
        if (performance.now() - toldAt < TOLD_EVERY_MS) return
        toldAt = performance.now()
        log.info({ files: state.files }, 'the index is compared with all files')
      },
      found: async (finding) => log.warn({ ...finding }, 'a file could not be added to the index'),
      async progress() {
        state.files += 1
      },
    })
    await note(undefined)
    if (originals.known + originals.added > 0)
      log.info(
        { ...originals, ms: Math.round(performance.now() - startedAt) },
        'compared the index with all files',
      )
    return null
  }

  return {
    state: () => (seen && seen.files > 0 ? seen : undefined),

    async complete(signal) {
      if (!(await isNeeded())) {
        seen = undefined
        return
      }
      // Another process may do it.
      seen = { files: Math.max(seen?.files ?? 0, (await noted())?.files ?? 0) }
      if (performance.now() < waitUntil) return
      const startedAt = performance.now()
      try {
        await locks.share('list all files', fill, { signal, limitMs: LIMIT_MS })
        seen = undefined
      } catch (error) {
        const endedAt = performance.now()
        waitUntil = endedAt + Math.min(MOST_PAUSE_MS, PAUSE_PER_WORK * (endedAt - startedAt))
        throw error
      }
    },
  }
}
