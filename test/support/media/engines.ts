import type { Engine } from '../../../src/core/plugin-api/plugin.ts'
import { createSharpEngine } from '../../../src/engines/image/sharp.ts'

/** The image engine, with programs in `/bin` and `/usr/bin`. */
export const sharpEngine = createSharpEngine({ env: {} })

/** The image engine under observation. */
export interface WatchedEngine {
  engine: Engine<'sharp'>
  /** Sources opened so far. */
  readonly opened: number
  readonly rendered: number
  /** Works that were aborted while they were held. */
  readonly aborted: number
  /** From now on every work waits before it opens its source. */
  hold(): void
  /** Continues all of them. */
  release(): void
}

export function watchedEngine(): WatchedEngine {
  let gate: PromiseWithResolvers | undefined
  let opened = 0
  let rendered = 0
  let aborted = 0
  return {
    engine: {
      ...sharpEngine,
      async open(source, opening, context) {
        opened += 1
        if (gate) {
          const left = new Promise<void>((done) => context.signal.addEventListener('abort', () => done()))
          await Promise.race([gate.promise, left])
          if (context.signal.aborted) aborted += 1
        }
        context.signal.throwIfAborted()
        return sharpEngine.open(source, opening, context)
      },
      async render(draft, context) {
        rendered += 1
        return sharpEngine.render(draft, context)
      },
    },
    get opened() {
      return opened
    },
    get rendered() {
      return rendered
    },
    get aborted() {
      return aborted
    },
    hold() {
      gate ??= withResolvers()
    },
    release() {
      gate?.resolve()
      gate = undefined
    },
  }
}

interface PromiseWithResolvers {
  promise: Promise<void>
  resolve: () => void
}

function withResolvers(): PromiseWithResolvers {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
