import crypto from 'node:crypto'
import filesPromises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'

/** Replaces clocks, timers and random numbers of this thread. */
export interface Replacement {
  /** Milliseconds since 1970, as the running process sees them. */
  now(): number
  /** Milliseconds that only grow. */
  uptime(): number
  /** Calls `work` once, unless the returned function is called before. */
  after(milliseconds: number, work: () => void): () => void
  fill(bytes: Uint8Array): void
}

type Patch = [target: object, name: string, value: unknown]

const realImmediate = setImmediate

/** Resolves when the thread has nothing more to do but to wait for timers: all promises and all streams in memory have settled. */
export const drained = () => new Promise<void>((resolve) => realImmediate(resolve))

/** Replaces the clocks until the returned function is called. */
export function replaceTime(by: Replacement): () => void {
  const undo: Patch[] = []
  for (const [target, name, value] of patches(by)) {
    undo.push([target, name, (target as Record<string, unknown>)[name]])
    Object.defineProperty(target, name, { value, configurable: true, writable: true })
  }
  syncBuiltinESMExports()
  return () => {
    for (const [target, name, value] of undo)
      Object.defineProperty(target, name, { value, configurable: true, writable: true })
    syncBuiltinESMExports()
  }
}

function patches(by: Replacement): Patch[] {
  const RealDate = Date
  class VirtualDate extends RealDate {
    constructor(...args: []) {
      super(...(args.length === 0 ? ([by.now()] as unknown as []) : args))
    }
    static override now = () => by.now()
  }
  const timer = (start: (fire: () => void) => () => void, work: () => void) => {
    let isOver = false
    const stop = start(() => {
      isOver = true
      work()
    })
    const handle = {
      stop,
      ref: () => handle,
      unref: () => handle,
      hasRef: () => !isOver,
    }
    return handle
  }
  const setTimeout = (work: (...args: unknown[]) => void, milliseconds = 0, ...args: unknown[]) =>
    timer(
      (fire) => by.after(milliseconds, fire),
      () => work(...args),
    )
  const setInterval = (work: (...args: unknown[]) => void, milliseconds = 1, ...args: unknown[]) => {
    let stop = () => {}
    const again = () => {
      stop = by.after(milliseconds, () => {
        again()
        work(...args)
      })
    }
    again()
    const handle = { stop: () => stop(), ref: () => handle, unref: () => handle, hasRef: () => true }
    return handle
  }
  const clear = (handle: { stop?: () => void } | undefined) => handle?.stop?.()
  const wait = (milliseconds = 0, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const aborted = () => {
        stop()
        reject(Object.assign(new Error('The operation was aborted', { cause: signal?.reason }), ABORTED))
      }
      const stop = by.after(milliseconds, () => {
        signal?.removeEventListener('abort', aborted)
        resolve(value)
      })
      if (signal?.aborted) aborted()
      else signal?.addEventListener('abort', aborted, { once: true })
    })
  const randomBytes = (size: number) => {
    const bytes = Buffer.alloc(size)
    by.fill(bytes)
    return bytes
  }
  const hex = (bytes: Buffer) => bytes.toString('hex')
  const randomUUID = () => [4, 2, 2, 2, 6].map((size) => hex(randomBytes(size))).join('-')
  return [
    [globalThis, 'Date', VirtualDate],
    [globalThis, 'setTimeout', setTimeout],
    [globalThis, 'setInterval', setInterval],
    [globalThis, 'setImmediate', (work: () => void, ...args: unknown[]) => setTimeout(work, 0, ...args)],
    [globalThis, 'clearTimeout', clear],
    [globalThis, 'clearInterval', clear],
    [globalThis, 'clearImmediate', clear],
    [performance, 'now', () => by.uptime()],
    [
      AbortSignal,
      'timeout',
      (milliseconds: number) => {
        const controller = new AbortController()
        by.after(milliseconds, () => controller.abort(new DOMException('timeout', 'TimeoutError')))
        return controller.signal
      },
    ],
    [Math, 'random', () => randomBytes(4).readUInt32LE() / 2 ** 32],
    [timersPromises, 'setTimeout', wait],
    [timersPromises, 'setImmediate', (value: unknown) => wait(0, value)],
    [crypto, 'randomBytes', randomBytes],
    [crypto, 'randomUUID', randomUUID],
    // The identifier of the boot is the only file that is read.
    [filesPromises, 'readFile', async () => 'boot'],
  ]
}

const ABORTED = { name: 'AbortError', code: 'ABORT_ERR' }
