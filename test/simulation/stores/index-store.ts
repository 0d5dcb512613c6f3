import { embeddedIndex } from '../../../src/adapters/file-index/embedded/embedded.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { unavailable } from '../../../src/core/problem.ts'
import type { World } from '../world/world.ts'
import { lossyLevel } from './level.ts'

/** An index that all processes share, as one in Redis. */
export interface IndexStore {
  /** The index as a process sees it: each call is a request. */
  remote: FileIndex
  /** The index itself, without requests, for the laws. */
  local: FileIndex
  /** Another node takes over, which has not received the changes of the last milliseconds. */
  failOver(lostMs: number): void
  /** All data is lost. */
  empty(): void
  /** Whether requests are refused at once. */
  isDown: boolean
}

export async function indexStore(world: World): Promise<IndexStore> {
  const level = lossyLevel(() => world.time)
  const local = await embeddedIndex(level)
  let run = 1
  let compared: string | undefined
  const named: FileIndex = {
    ...local,
    async run() {
      const { data } = await local.run()
      const id = `run ${run}`
      return { id, data, isCompared: compared === id }
    },
    noteCompared: async (id) => {
      if (id === `run ${run}`) compared = id
    },
    async markComplete(name) {
      const { data } = await local.run()
      if (name === undefined || name === `run ${run}` || name === data) await local.markComplete()
    },
  }
  const store: IndexStore = {
    local: named,
    remote: remoteOf(named, (name, effect) => {
      if (store.isDown) return refuse(world)
      return world.request(name, () => {
        if (store.isDown) throw unavailable('The storage backend does not respond.')
        return effect()
      })
    }),
    isDown: false,
    failOver(lostMs) {
      run += 1
      level.rewind(world.time - lostMs)
    },
    empty() {
      run += 1
      level.empty()
    },
  }
  return store
}

/** A connection that is refused fails without the time of a request. */
function refuse(world: World): Promise<never> {
  return new Promise((_, reject) =>
    world.after(1, () => reject(unavailable('The storage backend does not respond.'))),
  )
}

type Call = <T>(name: string, effect: () => Promise<T>) => Promise<T>

/** Sends each call of an index by `call`. A list is read at one moment. */
function remoteOf(index: FileIndex, call: Call): FileIndex {
  const methods = Object.entries(index).map(([name, method]) => {
    if (name === 'isPosition') return [name, method]
    if (name === 'list' || name === 'overdue')
      return [
        name,
        async function* (...args: never[]) {
          yield* await call(`index.${name}`, async () => {
            const all: unknown[] = []
            for await (const one of (method as (...args: never[]) => AsyncIterable<unknown>)(...args))
              all.push(one)
            return all
          })
        },
      ]
    return [
      name,
      (...args: never[]) =>
        call(`index.${name} ${short(args[0])}`, () =>
          (method as (...args: never[]) => Promise<unknown>)(...args),
        ),
    ]
  })
  return Object.fromEntries(methods)
}

function short(argument: unknown): string {
  const key = (argument as { key?: string } | undefined)?.key
  return key ?? (typeof argument === 'string' ? argument : '')
}
