import type { Client } from '../../../src/core/clients/client.ts'
import type { ObjectKey } from '../../../src/core/files/object-key.ts'
import type { World } from '../world/world.ts'

/** What may be true of a file whose key a user has received. `gone`: deleted permanently. */
export type State = 'stored' | 'trashed' | 'gone'

// An unfinished change may be completed by a put that arrives late, or by a sweep: a lease of a minute, and the next sweep.
const MAY_CHANGE_MS = 240_000

/** A change in progress. One of the functions ends it. */
export interface Change {
  /** It was acknowledged. @param states the first one is the new state, if it has one; the same for tags */
  done(states: readonly State[], tags?: readonly string[]): void
  /** The answer says that nothing has changed. */
  refused(): void
  /** No answer, or one that leaves open whether something has changed. */
  failed(): void
}

/** What users know about one file. A change of which no answer was received leaves more than one possibility. */
export class KnownFile {
  readonly client: Client
  readonly key: ObjectKey
  readonly bytes: Buffer
  possible = new Set<State>(['stored'])
  /** The possible tags, joined by commas. */
  tags = new Set<string>([''])
  /** All tags that it ever may have had. */
  readonly everyTags = new Set<string>([''])
  wasTrashed = false
  /** The time of the world at which its acknowledged permanent delete began. */
  goneAt: number | undefined
  /** Whether a change of it has failed, or was never answered. */
  isUncertain = false
  readonly #world: World
  readonly #readers = new Set<Set<State>>()
  #running = 0
  #begun = 0
  #uncertainUntil = 0

  constructor(world: World, file: Pick<KnownFile, 'client' | 'key' | 'bytes'>) {
    this.#world = world
    this.client = file.client
    this.key = file.key
    this.bytes = file.bytes
  }

  /** Begins a change. @param states that it may lead to @param tags that it may set */
  change(states: readonly State[], tags: readonly string[] = []): Change {
    const before = { possible: this.possible, tags: this.tags }
    const begunAt = this.#world.time
    const isAlone = this.#running === 0 && this.#world.time > this.#uncertainUntil
    this.possible = new Set(this.possible)
    for (const state of states) this.#add(state)
    this.tags = new Set([...this.tags, ...tags])
    for (const one of tags) this.everyTags.add(one)
    this.#running += 1
    this.#begun += 1
    const begun = this.#begun
    /** @returns whether the result is known for certain: no other change was in progress */
    const over = () => {
      this.#running -= 1
      return isAlone && begun === this.#begun
    }
    return {
      done: ([state], [tagsNow] = []) => {
        if (state === 'gone') this.goneAt ??= begunAt
        // A permanent delete is final. A later change may be acknowledged while the index has lost the delete.
        const isFinal = [...before.possible].join() === 'gone'
        if (!over() && !isFinal) return
        if (isFinal) this.possible = before.possible
        else if (state !== undefined) this.possible = new Set([state])
        if (tagsNow !== undefined) this.tags = new Set([tagsNow])
      },
      refused: () => {
        if (over()) Object.assign(this, before)
      },
      failed: () => {
        over()
        this.isUncertain = true
        this.#uncertainUntil = this.#world.time + MAY_CHANGE_MS
      },
    }
  }

  /** Begins to read. @returns a function that ends it, and returns all states that were possible meanwhile */
  read(): () => ReadonlySet<State> {
    const seen = new Set(this.possible)
    this.#readers.add(seen)
    return () => {
      this.#readers.delete(seen)
      for (const state of this.possible) seen.add(state)
      return seen
    }
  }

  #add(state: State): void {
    this.possible.add(state)
    for (const seen of this.#readers) seen.add(state)
  }
}
