import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Locks, ShareOptions } from '../../../src/core/ports/locks.ts'
import { unavailable } from '../../../src/core/problem.ts'
import type { World } from '../world/world.ts'

interface Held {
  token: string
  until: number
}

type Result = { value: unknown } | { error: unknown }

const LEASE_MS = 10_000
const POLL_MS = 40

/** Locks that all processes share, as those in Redis: a holder renews its lease, and waiters get its result. */
export function lockStore(world: World): Locks & { empty(): void } {
  const held = new Map<string, Held>()
  const results = new Map<string, Result>()

  /** @returns the token of the holder: `token` when this call has acquired the lock */
  const acquire = (name: string, token: string, leaseMs: number) =>
    world.request(`lock ${name}`, () => {
      const holder = held.get(name)
      if (holder && holder.until > world.time) return holder.token
      held.set(name, { token, until: world.time + leaseMs })
      return token
    })

  const renew = (name: string, token: string, leaseMs: number) =>
    world.request(`renew ${name}`, () => {
      const holder = held.get(name)
      if (holder?.token !== token || holder.until <= world.time) return false
      holder.until = world.time + leaseMs
      return true
    })

  const release = (name: string, token: string, result: Result) =>
    world.request(`release ${name}`, () => {
      if (held.get(name)?.token !== token) return
      held.delete(name)
      results.set(token, result)
    })

  async function hold<T>(
    { name, token, leaseMs }: { name: string; token: string; leaseMs: number },
    work: (signal: AbortSignal) => Promise<T>,
    { signal, limitMs }: ShareOptions,
  ): Promise<T> {
    const controller = new AbortController()
    const lost = () => controller.abort(unavailable('The lock was lost.'))
    let renewedAt = world.time
    const renewal = setInterval(async () => {
      const isHeld = await renew(name, token, leaseMs).catch(() => world.time < renewedAt + leaseMs)
      if (!isHeld) lost()
      else renewedAt = world.time
    }, leaseMs / 3)
    const limit = setTimeout(() => controller.abort(unavailable('It took too long.')), limitMs)
    const left = () => controller.abort(signal?.reason)
    signal?.addEventListener('abort', left, { once: true })
    try {
      const value = await work(controller.signal)
      void release(name, token, { value }).catch(() => {})
      return value
    } catch (error) {
      void release(name, token, { error }).catch(() => {})
      throw error
    } finally {
      clearInterval(renewal)
      clearTimeout(limit)
      signal?.removeEventListener('abort', left)
    }
  }

  return {
    async share<T>(
      name: string,
      work: (signal: AbortSignal) => Promise<T>,
      options: ShareOptions,
    ): Promise<T> {
      const { signal, limitMs, leaseMs = LEASE_MS } = options
      const token = randomUUID()
      const until = world.time + limitMs
      for (let awaited: string | undefined; ; await pause(POLL_MS)) {
        signal?.throwIfAborted()
        const result = awaited === undefined ? undefined : results.get(awaited)
        if (result && 'error' in result) throw result.error
        if (result) return result.value as T
        if (world.time > until) throw unavailable('Another request holds the lock. Retry.')
        const holder = await acquire(name, token, leaseMs)
        if (holder === token) return hold({ name, token, leaseMs }, work, options)
        awaited = holder
      }
    },
    empty() {
      held.clear()
    },
  }
}
