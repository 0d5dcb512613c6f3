import { type Deferred, deferred } from '../../core/async/deferred.ts'
import type { Children } from '../../core/ports/children.ts'
import { type Child, type ChildOptions, openChild } from './child-process.ts'

/** Settings of a pool. */
export interface PoolOptions extends ChildOptions {
  /** Maximum of concurrent children. */
  most: number
  /** A child that is idle for this time is killed. */
  idleMs?: number
}

/** Child processes that run one task at a time each. A child can be killed in the middle of a task. */
export interface Pool extends Children {
  /** The PIDs of all live children. */
  pids(): number[]
  /** Kills all children. */
  close(): Promise<void>
}

const IDLE_MS = 60_000

/** Children are started on demand and reused for later tasks. A killed child is replaced. */
export function createPool({ most, idleMs = IDLE_MS, ...options }: PoolOptions): Pool {
  const children = new Set<Child>()
  const idle = new Map<Child, NodeJS.Timeout>()
  /** Tasks without a child, in the order of their arrival. */
  const waiting = new Set<Deferred<Child>>()
  let closed = false

  function start(): Child {
    const child = openChild(options)
    children.add(child)
    void child.ended.then(() => {
      children.delete(child)
      clearTimeout(idle.get(child))
      idle.delete(child)
      // A waiting task gets a new child. Otherwise it would have to wait for the other children.
      const next = closed ? undefined : firstWaiting()
      next?.resolve(start())
    })
    return child
  }

  function firstWaiting() {
    const [next] = waiting
    if (next) waiting.delete(next)
    return next
  }

  function giveBack(child: Child): void {
    if (child.isSpent()) {
      child.kill()
      void child.ended.then(replace)
      return
    }
    const next = firstWaiting()
    if (next) next.resolve(child)
    else keep(child)
  }

  function keep(child: Child): void {
    child.rest()
    idle.set(child, setTimeout(() => child.kill(), idleMs).unref())
  }

  /** Starts a spare child, so that the next task need not wait for a start. */
  function replace(): void {
    if (!closed && idle.size === 0 && children.size < most) keep(start())
  }

  async function take(signal: AbortSignal): Promise<Child> {
    for (const [child, timer] of idle) {
      clearTimeout(timer)
      idle.delete(child)
      if (!child.isSpent()) return child
      // Its memory has grown since its last task. As long as it lives, it has the place of another one.
      child.kill()
    }
    if (children.size < most) return start()
    const task = deferred<Child>()
    waiting.add(task)
    const leave = () => {
      waiting.delete(task)
      task.reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    return task.promise.finally(() => signal.removeEventListener('abort', leave))
  }

  return {
    async run(task) {
      task.signal.throwIfAborted()
      if (closed) throw new Error('the pool is closed')
      const child = await take(task.signal)
      try {
        task.signal.throwIfAborted()
        return await child.run(task)
      } finally {
        giveBack(child)
      }
    },
    pids: () => [...children].flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    async close() {
      closed = true
      for (const task of waiting) task.reject(new Error('the pool is closed'))
      waiting.clear()
      for (const child of children) child.kill()
      await Promise.all([...children].map(({ ended }) => ended))
    },
  }
}
