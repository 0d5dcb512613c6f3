import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { boundedCache } from '../../core/budgets/bounded-cache.ts'
import { derivativeKey } from '../../core/files/object-key.ts'
import { encodingOf, INFORMATION_VARIANT, isProxyVariant, proxyVariant } from '../../core/files/variant.ts'
import type { Log } from '../../core/log.ts'
import { COPY_SIDE, PROXY_SIDES, type ProxyName, type ProxySide } from '../../core/media/smaller-copies.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileLookup } from '../../core/ports/file-index.ts'
import { Problem, unlessStatus } from '../../core/problem.ts'
import type { Plan } from '../../pipeline/plan/plan.ts'
import type { StoredProxies } from '../../pipeline/run/run.ts'
import type { DeriveRequest, MadeAsset } from '../derivatives/derivations.ts'
import type { NotedUses } from '../derivatives/noted-uses.ts'

/**
 * Stored smaller copies of expensive originals. A proxy is a derivative with a reserved variant: it is admitted, paid for,
 * limited, shared by all processes, stored, evicted, swept and deleted as any other one.
 */
export interface Proxies {
  /** The proxies of the original of a derivative; undefined for a derivative that is not rendered from a proxy. */
  of(request: DeriveRequest): StoredProxies | undefined
  /** Drops the proxies that wait for their turn, and resolves when none is in progress; for a graceful shutdown. */
  stop(): Promise<void>
}

export interface ProxiesOptions {
  index: FileLookup
  buckets: Buckets
  /** Renders and stores the proxy. */
  derive: (request: DeriveRequest) => Promise<MadeAsset>
  uses: Pick<NotedUses, 'note'>
  plan: (name: ProxyName) => Plan
  /** Whether requests wait for a turn to render. */
  isBusy: () => boolean
  log: Log
  /** How long a proxy waits for idle time before it is dropped. */
  patienceMs?: number
}

// One at a time uses one core for 0.1 to 0.5 s. Further ones wait, until the next derivative of their original asks again.
const MAX_WAITING = 100
const PATIENCE_MS = 30_000
const LOOK_EVERY_MS = 100
// A proxy that could not be rendered or stored is not tried again for this time.
const FAILED = { maxBytes: 2_000_000, ttlMs: 3_600_000 }
// Most pictures are shown in one or two sizes. A proxy costs as much as it spares three to eight later derivatives: 30 ms for a small
// one, 100 to 350 ms for a large one. So it is rendered when it would have been useful for the third time.
const WORTH_FROM = 3

/** Creates the proxies of this process. */
export function createProxies(options: ProxiesOptions): Proxies {
  const { index, buckets, derive, uses, plan: planOf, isBusy, log, patienceMs = PATIENCE_MS } = options
  // Small ones do not wait for idle time, nor for large ones that do.
  const [oneLarge, oneSmall] = [pLimit(1), pLimit(1)]
  const failed = boundedCache<true>(FAILED)
  const underWay = new Map<string, Promise<void>>()
  const wanted = boundedCache<number>({ maxBytes: 5_000_000 })
  const stopping = new AbortController()

  async function idle(): Promise<boolean> {
    for (const until = performance.now() + patienceMs; performance.now() < until; ) {
      if (!isBusy()) return true
      await pause(LOOK_EVERY_MS, undefined, { signal: stopping.signal })
    }
    return false
  }

  async function make(request: DeriveRequest, plan: Plan, name: string): Promise<void> {
    const { client, record, name: original, caller, from } = request
    try {
      const { signal } = new AbortController()
      const made = await derive({ client, record, name: original, caller, plan, from, signal })
      if (made.isUnstored) failed.set(name, true)
    } catch (err) {
      // Overload, used-up CPU time, outages and deletes are not about the image: the next derivative asks again.
      if (err instanceof Problem && [404, 429, 503].includes(err.status)) return
      failed.set(name, true)
      log.warn({ err, client: client.id, key: record.key }, 'the proxy of an image could not be rendered')
    }
  }

  const nameOf = ({ client, record }: DeriveRequest, { side, page }: ProxyName) =>
    `${client.id} ${record.key} ${record.sha256} ${side} ${page}`

  function askFor(
    request: DeriveRequest,
    { side, page }: ProxyName,
    { fromLarger }: { fromLarger: boolean },
  ): ProxySide | undefined {
    const timesOf = (each: ProxySide) => wanted.get(nameOf(request, { side: each, page })) ?? 0
    wanted.set(nameOf(request, { side, page }), timesOf(side) + 1)
    const sides = fromLarger ? [side] : PROXY_SIDES.filter((each) => timesOf(each) > 0)
    if (sides.reduce((sum, each) => sum + timesOf(each), 0) < WORTH_FROM) return undefined
    const largest = Math.max(...sides) as ProxySide
    return mayBegin(nameOf(request, { side: largest, page })) ? largest : undefined
  }

  function mayBegin(name: string): boolean {
    if (stopping.signal.aborted || failed.has(name) || underWay.has(name)) return false
    return underWay.size < MAX_WAITING
  }

  async function begin(
    request: DeriveRequest,
    proxy: ProxyName,
    { atOnce }: { atOnce: boolean },
  ): Promise<void> {
    const name = nameOf(request, proxy)
    if (!mayBegin(name)) return
    const isSmall = proxy.side !== COPY_SIDE
    const work = async () => {
      stopping.signal.throwIfAborted()
      if (isSmall || atOnce || (await idle())) await make(request, planOf(proxy), name)
    }
    const made = atOnce ? work() : isSmall ? oneSmall(work) : oneLarge(work)
    const ended = made.catch(() => {}).finally(() => underWay.delete(name))
    underWay.set(name, ended)
    return ended
  }

  return {
    of(request) {
      const { client, record, plan } = request
      if (plan.variant === INFORMATION_VARIANT || encodingOf(plan.variant)) return undefined
      const ref = { clientId: client.id, key: record.key }
      const isForCopy = isProxyVariant(plan.variant)
      return {
        isForCopy,
        async find(name) {
          const key = derivativeKey(record.key, proxyVariant(name))
          const known = (await unlessStatus(503, index.find(ref, key)))?.derivative
          if (known?.state !== 'stored') return undefined
          const asset = await unlessStatus(503, buckets.of(client).find(key, known.record))
          if (asset?.size !== known.record.size) return undefined
          uses.note(ref, key, { isHeld: false })
          return asset
        },
        askFor: (name, how) => (isForCopy ? undefined : askFor(request, name, how)),
        async make(name, how) {
          if (!isForCopy) await begin(request, name, how)
        },
      }
    },
    async stop() {
      stopping.abort(new DOMException('the process is stopping', 'AbortError'))
      await Promise.all(underWay.values())
    },
  }
}
