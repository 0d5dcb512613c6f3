import cluster, { type Worker } from 'node:cluster'

// prom-client aggregates the parts, but its AggregatorRegistry.clusterMetrics() cannot collect them here. It fails after 5 s, and
// returns nothing, if one process is busy, starting, or ends in the meantime. And only the first process can call it, while
// GET /metrics reaches any web process.

// A process that does not respond within this time is left out.
const RESPONSE_MS = 2_000

/** A message between the primary process and the web processes. `metricsOf` is the number of the request. */
type Message = { metricsOf: number; parts?: unknown; text?: string }

/**
 * Runs in the primary process. Collects the metrics of all web processes, and answers requests of each of them for the
 * total.
 *
 * @param aggregate merges the parts into one text
 */
export function gatherMetrics(
  aggregate: (parts: readonly unknown[]) => Promise<string>,
): () => Promise<string> {
  // Processes that have sent their ready message. A starting process would not respond.
  const ready = new Set<Worker>()
  const waiting = new Map<number, (parts: unknown) => void>()
  let requests = 0

  function ask(worker: Worker): Promise<unknown> {
    requests += 1
    const metricsOf = requests
    const response = new Promise((resolve) => {
      waiting.set(metricsOf, resolve)
      setTimeout(resolve, RESPONSE_MS).unref()
      worker.send({ metricsOf }, (error) => error && resolve(undefined))
    })
    return response.finally(() => waiting.delete(metricsOf))
  }

  async function gather(): Promise<string> {
    const parts = await Promise.all([...ready].map(ask))
    return aggregate(parts.filter((part) => part !== undefined))
  }

  /** If the worker has died or the collection fails, no response is sent, and the request times out. */
  async function respond(worker: Worker, metricsOf: number): Promise<void> {
    const text = await gather().catch(() => undefined)
    if (text !== undefined) worker.send({ metricsOf, text }, () => undefined)
  }

  cluster.on('exit', (worker) => ready.delete(worker))
  cluster.on('message', (worker, message: Partial<Message>) => {
    ready.add(worker)
    if (message.metricsOf === undefined) return
    if (message.parts !== undefined) waiting.get(message.metricsOf)?.(message.parts)
    else void respond(worker, message.metricsOf)
  })
  return gather
}

/**
 * Runs in a web process. Responds to the requests of the primary process.
 *
 * @param parts returns the metrics of this process
 * @returns a function that requests the metrics of all processes
 */
export function shareMetrics(parts: () => Promise<unknown>): () => Promise<string> {
  const waiting = new Map<number, (text: string) => void>()
  let requests = 0
  process.on('message', async ({ metricsOf, text }: Partial<Message>) => {
    if (metricsOf === undefined) return
    if (text !== undefined) return waiting.get(metricsOf)?.(text)
    process.send?.({ metricsOf, parts: await parts() })
  })
  return () => {
    requests += 1
    const metricsOf = requests
    const response = new Promise<string>((resolve, reject) => {
      waiting.set(metricsOf, resolve)
      setTimeout(reject, 2 * RESPONSE_MS, new Error('the first process does not respond')).unref()
      process.send?.({ metricsOf })
    })
    return response.finally(() => waiting.delete(metricsOf))
  }
}
