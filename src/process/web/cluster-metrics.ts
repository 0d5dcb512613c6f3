import cluster, { type Worker } from 'node:cluster'

// prom-client aggregates the parts, but its AggregatorRegistry.clusterMetrics() cannot collect them here. It fails after 5 s, and
// returns nothing, if one process is busy, starting, or ends in the meantime. And only the first process can call it, while
// GET /metrics reaches any web process.

// Of a process that does not respond within this time, only its last counters are included.
const RESPONSE_MS = 2_000

/** A message between the primary process and the web processes. `metricsOf` is the number of the request. */
type Message = { metricsOf: number; parts?: unknown; text?: string }

/**
 * Runs in the primary process. Collects the metrics of all web processes, and answers requests of each of them for the
 * total. Its counters include the last known ones of processes that have ended or do not respond: Prometheus takes a sum that
 * falls for a restart, and counts the rest of it again.
 *
 * @param merge.aggregate merges the parts into one text
 * @param merge.lasting merges parts into parts without current values
 */
export function gatherMetrics({
  aggregate,
  lasting,
}: {
  aggregate: (parts: readonly unknown[]) => Promise<string>
  lasting: (parts: readonly unknown[]) => unknown
}): () => Promise<string> {
  // Processes that have sent their ready message, with their last parts. A starting process would not respond.
  const ready = new Map<Worker, unknown>()
  let ended = lasting([])
  const waiting = new Map<number, (hasResponded: boolean) => void>()
  let requests = 0

  /** @returns whether the process has responded in time */
  function ask(worker: Worker): Promise<boolean> {
    requests += 1
    const metricsOf = requests
    const response = new Promise<boolean>((resolve) => {
      waiting.set(metricsOf, resolve)
      setTimeout(resolve, RESPONSE_MS, false).unref()
      worker.send({ metricsOf }, (error) => error && resolve(false))
    })
    return response.finally(() => waiting.delete(metricsOf))
  }

  async function gather(): Promise<string> {
    const workers = [...ready.keys()]
    const responses = await Promise.all(workers.map(ask))
    // A process that has ended since then has no parts any more: they are in `ended`.
    const partsOf = (hasResponded: boolean) =>
      workers
        .filter((_, i) => responses[i] === hasResponded)
        .map((worker) => ready.get(worker))
        .filter(isDefined)
    return aggregate([...partsOf(true), lasting([...partsOf(false), ended])])
  }

  /** If the worker has died or the collection fails, no response is sent, and the request times out. */
  async function respond(worker: Worker, metricsOf: number): Promise<void> {
    const text = await gather().catch(() => undefined)
    if (text !== undefined) worker.send({ metricsOf, text }, () => undefined)
  }

  cluster.on('exit', (worker) => {
    ended = lasting([ready.get(worker), ended].filter(isDefined))
    ready.delete(worker)
  })
  cluster.on('message', (worker, message: Partial<Message>) => {
    if (worker.isDead()) return
    ready.set(worker, message.parts ?? ready.get(worker))
    if (message.metricsOf === undefined) return
    if (message.parts !== undefined) waiting.get(message.metricsOf)?.(true)
    else void respond(worker, message.metricsOf)
  })
  return gather
}

function isDefined(part: unknown): boolean {
  return part !== undefined
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
