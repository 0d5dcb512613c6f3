import { unavailable } from '../../../src/core/problem.ts'
import { type Random, randomOf } from './random.ts'
import { drained } from './virtual-time.ts'

/** A process of the service. What it has begun ends with it. */
export interface Process {
  name: string
  isAlive: boolean
  /** Until when nothing of it runs, as with SIGSTOP. */
  pausedUntil: number
  /** By how much its clock is wrong, in milliseconds. */
  clockOffset: number
}

/** How often something fails, from 0 to 1. */
export interface Faults {
  /** A request to a store that is never executed. */
  lost: number
  /** A request that is executed, but whose answer is lost. */
  unanswered: number
  /** A request that is executed only after its caller has given up. */
  late: number
  /** A request or its answer that takes seconds. */
  slow: number
}

export const NO_FAULTS: Faults = { lost: 0, unanswered: 0, late: 0, slow: 0 }

interface Event {
  at: number
  turn: number
  /** Undefined for what the test itself does. */
  owner: Process | undefined
  run: () => void
  isCancelled: boolean
}

/** The stores live on when processes die. */
const STORES: Process = { name: 'stores', isAlive: true, pausedUntil: 0, clockOffset: 0 }

/** The time after which a caller gives up a request, in milliseconds. */
const PATIENCE_MS = 1500
/** A request that was given up is executed within this time, or never: longer in S3 than in an index, whose connection is closed. */
const LATE_MS = { bucket: 15_000, index: 1500 }
const START = Date.UTC(2026, 0, 1)

/**
 * One thread with one virtual clock. Events happen in the order of their times, which are random. Between two events every promise
 * settles, so each event is one atomic step.
 */
export class World {
  readonly random: Random
  /** Milliseconds since the beginning. */
  time = 0
  faults: Faults = NO_FAULTS
  /** Whose event is happening. */
  current: Process | undefined
  /** Called when a store has executed a request for a file. */
  onStep: (caller: Process) => void = () => {}
  /** What has happened, in words, if it is asked for. */
  readonly story: string[] | undefined
  #events: Event[] = []
  #turn = 0

  constructor(seed: number, { tells = false }: { tells?: boolean } = {}) {
    this.random = randomOf(seed)
    this.story = tells ? [] : undefined
  }

  tell(words: () => string): void {
    this.story?.push(`${(this.time / 1000).toFixed(3)} s  ${this.current?.name ?? 'world'}  ${words()}`)
  }

  now(): number {
    return START + Math.floor(this.time) + (this.current?.clockOffset ?? 0)
  }

  /** Runs `work` later, as a part of the process whose event is happening. @returns a function that cancels it */
  after(milliseconds: number, work: () => void, owner = this.current): () => void {
    const event: Event = {
      at: this.time + Math.max(0, milliseconds),
      turn: this.#turn,
      owner,
      run: work,
      isCancelled: false,
    }
    this.#turn += 1
    this.#push(event)
    return () => {
      event.isCancelled = true
    }
  }

  /** Runs `work` as a part of a process, in an event of its own. */
  as(owner: Process, work: () => void): void {
    this.after(0, work, owner)
  }

  /**
   * A request of the current process to a store, which is executed in one atomic step, and may be lost, late or unanswered.
   * @throws Problem 503 when the caller gives up, and the error of `effect`
   */
  request<T>(name: string, effect: () => T | Promise<T>): Promise<T> {
    const { random, faults, current: caller } = this
    const delay = () => (random.chance(faults.slow) ? random.next() * PATIENCE_MS : 0.2 + random.next() * 3)
    const fate = random.next()
    const isLost = fate < faults.lost
    const isLate = !isLost && fate < faults.lost + faults.late
    const isUnanswered = !isLost && !isLate && fate < faults.lost + faults.late + faults.unanswered
    const late = name.startsWith('bucket') ? LATE_MS.bucket : LATE_MS.index
    return new Promise<T>((resolve, reject) => {
      const answer = (milliseconds: number, respond: () => void) => this.after(milliseconds, respond, caller)
      const giveUp = () => {
        this.tell(() => `gives up: ${name}`)
        reject(unavailable('The storage backend does not respond.'))
      }
      if (isLost || isLate || isUnanswered) answer(PATIENCE_MS, giveUp)
      if (isLost) return
      const execute = async () => {
        // The request may not have left a process that was killed.
        if (caller && !caller.isAlive && random.chance(0.5)) return
        if (isLate || isUnanswered) this.tell(() => `${isLate ? 'late' : 'unanswered'}: ${name}`)
        try {
          const result = await effect()
          if (caller && name.includes('/')) this.onStep(caller)
          if (!isLate && !isUnanswered) answer(delay(), () => resolve(result))
        } catch (error) {
          if (!isLate && !isUnanswered) answer(delay(), () => reject(error))
        }
      }
      this.after(isLate ? PATIENCE_MS + random.next() * late : delay(), () => void execute(), STORES)
    })
  }

  /** Lets events happen until `isOver`, or until this time. @throws Error when nothing is left that could happen */
  async run(isOver: () => boolean, until = Number.POSITIVE_INFINITY): Promise<void> {
    while (!isOver()) {
      const event = this.#pop()
      if (!event) throw new Error('nothing can happen any more')
      if (event.at > until) {
        this.#push(event)
        this.time = until
        return
      }
      this.time = Math.max(this.time, event.at)
      const { owner, isCancelled } = event
      if (isCancelled || owner?.isAlive === false) continue
      if (owner && owner.pausedUntil > this.time) {
        event.at = owner.pausedUntil
        this.#push(event)
        continue
      }
      this.current = owner
      event.run()
      await drained()
      this.current = undefined
    }
  }

  /** Lets events happen as soon as there are any, next to code with the real clock. */
  async live(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      if (this.#events.length === 0) await drained()
      else await this.run(() => this.#events.length === 0 || isOver())
    }
  }

  #push(event: Event): void {
    const events = this.#events
    let at = events.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(event, events[parent] as Event)) break
      events[at] = events[parent] as Event
      at = parent
    }
    events[at] = event
  }

  #pop(): Event | undefined {
    const events = this.#events
    const first = events[0]
    const last = events.pop()
    if (!first || !last || events.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= events.length) break
      if (child + 1 < events.length && isBefore(events[child + 1] as Event, events[child] as Event))
        child += 1
      if (!isBefore(events[child] as Event, last)) break
      events[at] = events[child] as Event
      at = child
    }
    events[at] = last
    return first
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.turn < other.turn)
}
