import { anySignal } from '../../core/async/any-signal.ts'
import type { Job, JobHandler, JobRef, Jobs } from '../../core/ports/jobs.ts'
import { unavailable } from '../../core/problem.ts'
import { runAttempt } from './attempt.ts'
import { createDueQueue } from './due-queue.ts'
import { type EmbeddedJobsOptions, type Line, type OpenJob, openJobOf } from './embedded-line.ts'
import { createEmbeddedList } from './embedded-list.ts'
import { nameOf, type OpenRow, openJobTable, rowAfter, statusOf } from './embedded-table.ts'
import { checkJob, checkKind, RETENTION } from './rules.ts'
import { createTurns } from './turns.ts'

// The maximum of setTimeout. A longer delay would fire at once.
const TIMER_MAX_MS = 2 ** 31 - 1

/**
 * Jobs in a LevelDB folder, which belongs to one process at a time. Jobs that were running when that process ended run
 * again when the next process opens the folder.
 *
 * @throws when another process has the folder open: the error's cause has the `code` LEVEL_LOCKED
 */
export async function embeddedJobs({
  folder,
  log,
  keep = RETENTION,
  noteAgainMs = 10_000,
  reserve,
}: EmbeddedJobsOptions): Promise<Jobs> {
  const { table, open } = await openJobTable(folder, keep, reserve && { reserve })
  const openJobs = new Map<string, OpenJob>()
  const lines = new Map<string, Line>()
  const running = new Set<Promise<void>>()
  const stop = new AbortController()
  let paused = false
  let closed = false
  let closing: Promise<void> | undefined
  let lastTurn = 0

  for (const { ref, row } of open) {
    lineOf(ref.kind).waiting.add(openJob(ref, row))
    lastTurn = Math.max(lastTurn, row.turn)
  }

  function openJob(ref: JobRef, row: OpenRow): OpenJob {
    const job = openJobOf(ref, row)
    openJobs.set(nameOf(ref), job)
    return job
  }

  function lineOf(kind: string): Line {
    let line = lines.get(kind)
    if (!line) {
      line = { waiting: createDueQueue(), due: createTurns(new Map()), running: 0 }
      lines.set(kind, line)
    }
    return line
  }

  function checkOpen(): void {
    if (closed) throw unavailable('The process is stopping.')
  }

  /**
   * A write to the disk has failed, for example because it is full. The
   * job begins again from its last stored state, as after a restart.
   */
  function putBack(line: Line, job: OpenJob, error: unknown): void {
    log.error(
      { err: error, kind: job.ref.kind, jobId: job.ref.id },
      'the state of a job could not be stored; the job will start again',
    )
    line.waiting.add(Object.assign(job, { state: 'waiting', progress: 0, dueAt: Date.now() + noteAgainMs }))
  }

  async function store(job: OpenJob, row: OpenRow): Promise<void> {
    try {
      await table.write(job.ref, row)
    } catch (cause) {
      openJobs.delete(nameOf(job.ref))
      throw unavailable('The write could not be stored. Retry in a few seconds.', { cause })
    }
  }

  /** Takes the next job that is due. Jobs with an owner are served in turns, others in the order in which they are due. */
  function takeDue({ waiting, due }: Line): OpenJob | undefined {
    for (let job = waiting.first(); job && job.dueAt <= Date.now(); job = waiting.first()) {
      waiting.removeFirst()
      if (job.removal.signal.aborted) continue
      if (!job.owner) return job
      due.add(job, job.owner)
    }
    let next = due.take()
    while (next?.removal.signal.aborted) next = due.take()
    return next
  }

  /** Begins the due jobs, up to the concurrency, and sets the timer for the next one. */
  function advance(line: Line): void {
    clearTimeout(line.timer)
    const { work, waiting } = line
    while (work && !paused && line.running < work.options.concurrency) {
      const job = takeDue(line)
      if (!job) {
        const waitMs = (waiting.first()?.dueAt ?? Number.POSITIVE_INFINITY) - Date.now()
        if (waitMs !== Number.POSITIVE_INFINITY)
          line.timer = setTimeout(() => advance(line), Math.min(Math.max(waitMs, 0), TIMER_MAX_MS))
        return
      }
      line.running += 1
      const ended = run(line, job, work)
        .catch((error) => putBack(line, job, error))
        .finally(() => {
          running.delete(ended)
          line.running -= 1
          advance(line)
        })
      running.add(ended)
    }
  }

  async function begin(job: OpenJob): Promise<OpenRow> {
    const attempts = job.attempts + 1
    Object.assign(job, { state: 'running', attempts })
    try {
      const row: OpenRow = { ...((await table.find(job.ref)) as OpenRow), state: 'running', attempts }
      await table.write(job.ref, row)
      return row
    } catch (error) {
      job.attempts -= 1
      throw error
    }
  }

  /** Runs one attempt, and stores the state before and after it. */
  async function run(
    line: Line,
    job: OpenJob,
    { handler, options }: NonNullable<Line['work']>,
  ): Promise<void> {
    const row = await begin(job)

    const given: Job<never> = { ...job.ref, data: row.data as never, attempt: row.attempts }
    const stops = anySignal([stop.signal, job.removal.signal])
    const outcome = await runAttempt(given, handler, {
      work: options,
      stop: stops.signal,
      onProgress: (fraction) => {
        job.progress = fraction
      },
      log,
    })
    stops.leave()
    if (outcome.next === 'removed') {
      await table.remove(job.ref)
      openJobs.delete(nameOf(job.ref))
      return
    }
    const next = rowAfter(outcome, row, options)
    await table.write(job.ref, next)
    if ('endedAt' in next) {
      openJobs.delete(nameOf(job.ref))
    } else if (job.removal.signal.aborted) {
      // It was removed while its next state was written.
      await table.remove(job.ref)
      openJobs.delete(nameOf(job.ref))
    } else {
      line.waiting.add(openJob(job.ref, next))
    }
  }

  function pause(): void {
    paused = true
    for (const { timer } of lines.values()) clearTimeout(timer)
  }

  async function close(graceMs: number): Promise<void> {
    pause()
    const put = setTimeout(
      () => stop.abort(new DOMException('the process is stopping', 'AbortError')),
      graceMs,
    )
    while (running.size > 0) await Promise.all(running)
    clearTimeout(put)
    closed = true
    await table.close()
  }

  return {
    ...createEmbeddedList({ table, openJobs, checkOpen }),

    async enqueue({ kind, id, data, delayMs = 0, owner, again = false }) {
      checkJob({ kind, id, data, delayMs })
      checkOpen()
      const ref = { kind, id }
      const hasFailed = (await table.find(ref))?.state === 'failed'
      const known = openJobs.get(nameOf(ref))
      // A second request for the same job also waits until the job is on the disk.
      if (known) return known.stored
      if (hasFailed && !again) return

      lastTurn += 1
      const row: OpenRow = {
        state: 'waiting',
        data,
        dueAt: Date.now() + delayMs,
        turn: lastTurn,
        attempts: 0,
        createdAt: Date.now(),
        ...(owner === undefined ? {} : { owner }),
      }
      const job = openJob(ref, row)
      job.stored = store(job, row)
      await job.stored
      const line = lineOf(kind)
      line.waiting.add(job)
      advance(line)
    },

    async status(ref) {
      checkOpen()
      const open = openJobs.get(nameOf(ref))
      if (open) return { state: open.state, attempts: open.attempts, progress: open.progress }
      return statusOf(await table.find(ref))
    },

    work(kind, handler, options) {
      checkKind(kind)
      const line = lineOf(kind)
      if (line.work) throw new Error(`jobs of the kind ${kind} already have a handler`)
      line.work = { handler: handler as JobHandler<never>, options }
      advance(line)
    },

    pause,
    close({ graceMs }) {
      closing ??= close(graceMs)
      return closing
    },
  }
}
