import type { JobFailure, JobOwner, JobRef, JobStatus, WorkOptions } from '../../core/ports/jobs.ts'
import type { DiskReserve } from '../disk/disk-reserve.ts'
import { openResilientLevel, type Row } from '../level/resilient-level.ts'
import type { Outcome } from './attempt.ts'
import type { Retention } from './rules.ts'

/** A job that has not ended. `turn` orders jobs that are due in the same millisecond. */
export interface OpenRow {
  state: 'waiting' | 'running'
  data: unknown
  dueAt: number
  turn: number
  attempts: number
  owner?: JobOwner
  /** Milliseconds since 1970. Absent in rows of earlier versions. */
  createdAt?: number
}

/** A job that has ended. `endedAt` is in milliseconds since 1970. Rows of earlier versions have no more members. */
export type EndedRow = { endedAt: number; attempts: number } & Partial<
  Pick<OpenRow, 'data' | 'owner' | 'createdAt'>
> &
  ({ state: 'done' } | { state: 'failed'; failure: JobFailure })

export type JobRow = OpenRow | EndedRow

/** Jobs on the disk, one row each. */
export interface JobTable {
  find(ref: JobRef): Promise<JobRow | undefined>
  /** Writes the row of a job. It is durable when this resolves. */
  write(ref: JobRef, row: JobRow): Promise<void>
  /** Deletes the row of a job. Later writes are not affected. */
  remove(ref: JobRef): Promise<void>
  /** The jobs of a client that have ended, in no particular order. */
  endedOf(kind: string, client: string): EndedJob[]
  close(): Promise<void>
}

/** A job that has ended, without its row. */
export interface EndedJob extends JobRef {
  state: EndedRow['state']
  createdAt: number
}

// A kind begins with a letter from a to z, and "{" sorts after these.
const ALL = { gt: '', lt: '{' }

/**
 * Opens a LevelDB folder. `open` has the jobs that have not ended,
 * in no particular order. `keep` is the retention of jobs that have ended.
 */
export async function openJobTable(
  folder: string,
  keep: Retention,
  options?: { reserve?: DiskReserve },
): Promise<{ table: JobTable; open: Array<{ ref: JobRef; row: OpenRow }> }> {
  const level = await openResilientLevel(folder, options)

  // Names in the order in which the jobs ended. The first is the first to expire.
  const ended = { done: new Map<string, EndedEntry>(), failed: new Map<string, EndedEntry>() }
  const limits = {
    done: { ms: keep.doneMs, count: keep.doneCount },
    failed: { ms: keep.failedMs, count: keep.failedCount },
  }
  const isOver = (state: 'done' | 'failed', endedAt: number) => endedAt + limits[state].ms <= Date.now()

  const open: Array<{ ref: JobRef; row: OpenRow }> = []
  const found: Array<{ name: string; row: EndedRow }> = []
  for (const [name, row] of (await level.rows(ALL)) as Array<[string, JobRow]>) {
    if ('endedAt' in row) found.push({ name, row })
    else open.push({ ref: refOf(name), row: withOwner(row) })
  }
  for (const { name, row } of found.sort((a, b) => a.row.endedAt - b.row.endedAt))
    ended[row.state].set(name, entryOf(row))

  /** The ended jobs that have expired, and the oldest ones above the maximum count. */
  function* expired(): Generator<string> {
    for (const state of ['done', 'failed'] as const) {
      let left = ended[state].size
      for (const [name, { endedAt }] of ended[state]) {
        if (left <= limits[state].count && !isOver(state, endedAt)) break
        left -= 1
        yield name
      }
    }
  }

  const table: JobTable = {
    async find(ref) {
      const [row] = (await level.get([nameOf(ref)])) as [JobRow?]
      return row && 'endedAt' in row && isOver(row.state, row.endedAt) ? undefined : row
    },
    async write(ref, row) {
      const name = nameOf(ref)
      ended.done.delete(name)
      ended.failed.delete(name)
      if ('endedAt' in row) ended[row.state].set(name, entryOf(row))
      const rows: Row[] = [{ type: 'put', key: name, value: row }]
      for (const old of [...expired()]) {
        rows.push({ type: 'del', key: old })
        ended.done.delete(old)
        ended.failed.delete(old)
      }
      // `freesRoom`: on a full disk, these rows may be the events of deletes.
      await level.write(rows, { freesRoom: true })
    },
    async remove(ref) {
      const key = nameOf(ref)
      ended.done.delete(key)
      ended.failed.delete(key)
      await level.write([{ type: 'del', key }], { freesRoom: true })
    },
    endedOf: (kind, client) =>
      (['done', 'failed'] as const).flatMap((state) =>
        [...ended[state]].flatMap(([name, entry]) => {
          const ref = refOf(name)
          const isListed = ref.kind === kind && entry.client === client && !isOver(state, entry.endedAt)
          return isListed ? [{ ...ref, state, createdAt: entry.createdAt }] : []
        }),
      ),
    close: () => level.close(),
  }
  return { table, open }
}

/** A kind contains no NUL, so no two jobs have the same name. */
export function nameOf({ kind, id }: JobRef): string {
  return `${kind}\0${id}`
}

/** The next row of a job after an attempt. `row` is the row during the attempt. */
export function rowAfter(
  outcome: Exclude<Outcome, { next: 'removed' }>,
  row: OpenRow,
  options: WorkOptions,
): JobRow {
  const { data, owner, createdAt } = row
  const ended = {
    data,
    ...(owner ? { owner } : {}),
    ...(createdAt === undefined ? {} : { createdAt }),
    endedAt: Date.now(),
    attempts: Math.min(row.attempts, options.attempts),
  }
  switch (outcome.next) {
    case 'done':
      return { state: 'done', ...ended }
    case 'failed':
      return { state: 'failed', failure: outcome.failure, ...ended }
    case 'retry':
      return { ...row, state: 'waiting', dueAt: Date.now() + outcome.delayMs }
    case 'putBack':
      return { ...row, state: 'waiting', attempts: row.attempts - 1 }
    case 'toDeferral':
      return { ...row, state: 'waiting', attempts: row.attempts - 1, dueAt: Date.now() + outcome.delayMs }
  }
}

/** The status of a job that is only on the disk. */
export function statusOf(row: JobRow | undefined): JobStatus | undefined {
  switch (row?.state) {
    case 'done':
      return { state: 'done', attempts: row.attempts, progress: 1 }
    case 'failed':
      return { state: 'failed', attempts: row.attempts, progress: 0, failure: row.failure }
    default:
      return row && { state: row.state, attempts: row.attempts, progress: 0 }
  }
}

/** The part of an ended row that is kept in memory. */
interface EndedEntry {
  endedAt: number
  createdAt: number
  client: string | undefined
}

function entryOf({ endedAt, createdAt = endedAt, owner }: EndedRow): EndedEntry {
  return { endedAt, createdAt, client: owner?.client }
}

/** In rows of earlier versions, the owner is only the ID of the client. */
function withOwner(row: OpenRow): OpenRow {
  const owner: unknown = row.owner
  return typeof owner === 'string' ? { ...row, owner: { client: owner } } : row
}

function refOf(name: string): JobRef {
  const end = name.indexOf('\0')
  return { kind: name.slice(0, end), id: name.slice(end + 1) }
}
