import { isDeepStrictEqual } from 'node:util'
import type { KeyRange } from '../../../core/ports/index/steps.ts'
import { changeInLedger, type Ledger } from '../../../core/ports/ledger.ts'
import type { Compared, Pass } from './compare-batch.ts'

/** The state of a comparison, which all processes share. An emptied Redis has forgotten it as well. */
export interface Progress {
  /** The run of the index in which it began, or the name of its data where the store does not name its runs. */
  run: string
  pass: Pass
  /** In milliseconds since 1970. */
  startedAt: number
  /** Originals in the bucket that this pass has compared. */
  files: number
  /** How many there are, where lists and counters were complete at the start of the pass. */
  total?: number
  /** In both passes. */
  added: number
  removed: number
  /** Where the next range begins. Absent when all keys belong to a range. */
  next?: Place
  /** Ranges that are not finished. Everything before their `after` is. */
  ranges: Range[]
  /** At the end of the pass: entries that an older version has left out of lists are added. */
  isListed?: true
  /** At the end of the pass: the last client whose folders were counted again. */
  recounted?: string
}

/** Clients are processed in the order of their IDs. */
export interface Place {
  clientId: string
  after: string
  /** Set for what is left of a client that had failed: no other client follows. */
  isPostponed?: true
}

export const FIRST_PLACE: Place = { clientId: '', after: '' }

/** A range of keys that one process compares at a time. */
export interface Range extends KeyRange {
  id: string
  clientId: string
  /** What is left of a client that has failed. It is not compared as one range, but divided again when all others are. */
  isPostponed?: true
}

// An older version has a state of another form under the name "index comparison".
export const NAME = 'comparison of index and buckets'
const REMEMBERED_MS = 28 * 24 * 3_600_000

/** Reads and changes the shared state of the comparison. */
export function progressIn(ledger: Ledger, now: () => number) {
  /** @param of returns the new state; undefined to leave it as it is */
  const changeAny = (
    of: (progress: Progress | undefined) => Progress | 'ended' | undefined,
  ): Promise<boolean> =>
    changeInLedger(ledger, NAME, {
      async make(before) {
        const after = of(parsed(before))
        if (after === undefined) return { after: before, result: false }
        return { after: after === 'ended' ? undefined : JSON.stringify(after), result: true }
      },
      forgetAt: now() + REMEMBERED_MS,
    })
  /** As `changeAny`, but only while the comparison is in the same pass. */
  const change = (
    { run, pass }: Pick<Progress, 'run' | 'pass'>,
    of: (progress: Progress) => Progress | 'ended' | undefined,
  ) => changeAny((progress) => (progress?.run === run && progress.pass === pass ? of(progress) : undefined))

  return {
    async find(): Promise<Progress | undefined> {
      return parsed(await ledger.find(NAME))
    },
    /** Begins a comparison, unless there is one in the same run. */
    begin: (progress: Progress) =>
      changeAny((current) => (current?.run === progress.run ? undefined : progress)),
    /** Notes what is done at the end of a pass, so that it is not repeated after an interruption. @returns false when the pass has ended */
    noteEnd: (current: Progress, done: Pick<Progress, 'isListed' | 'recounted'>) =>
      change(current, (progress) => (isOver(progress) ? { ...progress, ...done } : undefined)),
    /** Ends a pass in which nothing is left to compare. @param next undefined when it is the last one */
    endPass: (ended: Progress, next?: Progress) =>
      change(ended, (progress) => (isOver(progress) ? (next ?? 'ended') : undefined)),
    /**
     * Takes a range out of what is left.
     * @param options.from where it begins
     * @param options.next what is left then
     * @returns false when another process has taken keys from there, or the pass has ended
     */
    take: (
      current: Progress,
      { from, range, next }: { from: Place; range?: Range; next: Place | undefined },
    ) =>
      change(current, ({ next: place, ...progress }) => {
        if (!isDeepStrictEqual(place, from)) return undefined
        const ranges = range ? [...progress.ranges, range] : progress.ranges
        return { ...progress, ...(next ? { next } : {}), ranges }
      }),
    /** Divides a postponed range again. @returns false when other keys have to be divided first */
    resume: (current: Progress, { id, clientId, after }: Range) =>
      change(current, (progress) => {
        const others = progress.ranges.filter((one) => one.id !== id)
        if (progress.next || others.length === progress.ranges.length) return undefined
        return { ...progress, next: { clientId, after, isPostponed: true }, ranges: others }
      }),
    /**
     * Notes that a range was compared up to a position.
     * @param options.upTo undefined for its end
     * @returns false when another process has done that, so its files and findings count already
     */
    reached: (
      current: Progress,
      { id, after }: Range,
      { upTo, compared }: { upTo: string | undefined; compared: Compared },
    ) =>
      change(current, (progress) => {
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

/** Whether a pass has compared everything. */
export function isOver({ next, ranges }: Progress): boolean {
  return !next && ranges.length === 0
}

function parsed(text: string | undefined): Progress | undefined {
  return text === undefined ? undefined : JSON.parse(text)
}
