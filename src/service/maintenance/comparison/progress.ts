import type { KeyRange } from '../../../core/ports/index/steps.ts'
import { changeInLedger, type Ledger } from '../../../core/ports/ledger.ts'
import type { Compared } from './compare-batch.ts'

/** The state of a comparison, which all processes share. An emptied Redis has forgotten it as well. */
export interface Progress {
  /** The run of the index in which it began; empty where the store does not name its runs. */
  run: string
  /** In milliseconds since 1970. */
  startedAt: number
  /** Originals in the bucket that were compared. */
  files: number
  /** How many there are, where lists and counters were complete at the start. */
  total?: number
  added: number
  removed: number
  /** Where the next range begins. Absent when all keys belong to a range. */
  next?: Place
  /** Ranges that are not finished. Everything before their `after` is. */
  ranges: Range[]
}

/** Clients are processed in the order of their IDs. */
export interface Place {
  clientId: string
  after: string
}

/** A range of keys that one process compares at a time. */
export interface Range extends KeyRange {
  id: string
  clientId: string
}

// An older version has a state of another form under the name "index comparison".
const NAME = 'comparison of index and buckets'
const REMEMBERED_MS = 28 * 24 * 3_600_000

/** Reads and changes the shared state of the comparison. */
export function progressIn(ledger: Ledger, now: () => number) {
  /** @param change returns the new state; undefined to leave it as it is */
  const change = (run: string, of: (progress: Progress) => Progress | undefined): Promise<boolean> =>
    changeInLedger(ledger, NAME, {
      async make(before) {
        const progress = parsed(before)
        const after = progress?.run === run ? of(progress) : undefined
        return { after: after ? JSON.stringify(after) : before, result: after !== undefined }
      },
      forgetAt: now() + REMEMBERED_MS,
    })

  return {
    async find(): Promise<Progress | undefined> {
      return parsed(await ledger.find(NAME))
    },
    /** Begins a comparison, in the place of one of another run. */
    async begin(progress: Progress): Promise<void> {
      const after = JSON.stringify(progress)
      await changeInLedger(ledger, NAME, {
        make: async () => ({ after, result: undefined }),
        forgetAt: now() + REMEMBERED_MS,
      })
    },
    async end(): Promise<void> {
      await changeInLedger(ledger, NAME, {
        make: async () => ({ after: undefined, result: undefined }),
        forgetAt: now() + REMEMBERED_MS,
      })
    },
    /** Takes a range out of what is left. @returns false when the comparison has ended, or began again */
    take: (run: string, { range, next }: { range?: Range; next: Place | undefined }) =>
      change(run, ({ next: _, ...progress }) => ({
        ...progress,
        ...(next ? { next } : {}),
        ranges: range ? [...progress.ranges, range] : progress.ranges,
      })),
    /**
     * Notes that a range was compared up to a position.
     * @param options.upTo undefined for its end
     * @returns false when another process has done that, so its files and findings count already
     */
    reached: (
      run: string,
      { id, after }: Range,
      { upTo, compared }: { upTo: string | undefined; compared: Compared },
    ) =>
      change(run, (progress) => {
        const range = progress.ranges.find((one) => one.id === id && one.after === after)
        if (!range) return undefined
        const others = progress.ranges.filter((one) => one !== range)
        return {
          ...progress,
          files: progress.files + compared.files,
          added: progress.added + compared.added,
          removed: progress.removed + compared.removed,
          ranges: upTo === range.upTo ? others : [...others, { ...range, after: upTo ?? '' }],
        }
      }),
  }
}

function parsed(text: string | undefined): Progress | undefined {
  return text === undefined ? undefined : JSON.parse(text)
}
