/** Metrics for operators: sums, never names of files, clients or tokens. All times are in seconds. */
export interface Metrics {
  /** A request has ended. `status`: `aborted` when the client has disconnected before the response began. */
  requestEnded(request: {
    /** The template of the route; undefined when no route matches. */
    route: string | undefined
    method: string
    status: number | 'aborted'
    /** The code of the problem in the response. */
    code: string | undefined
    seconds: number
    /** Bytes sent to the client, headers included. */
    bytes: number
    receivedBytes: number
  }): void
  /** A derivative was requested: `hit` when it was stored, `miss` when it had to be rendered. */
  derivativeLookedUp(found: 'hit' | 'miss'): void
  /** A smaller image was delivered instead of another one. */
  savedByRecompression(bytes: number): void
  /** A response was sent from the hot cache. */
  answeredHot(): void
  /**
   * A transformation has run. `refused`: it has failed because of the source or the request. `format`: of the output, by its name;
   * undefined when there is no output.
   */
  transformed(run: { outcome: TransformOutcome; format: string | undefined; seconds: number }): void
  /** Registers a function that counts the transformations that run and wait. `maxWaiting`: how many may wait, inclusive. */
  watchTransforms(load: () => { running: number; waiting: number; maxWaiting: number }): void
  /**
   * Registers functions that return the comparison of the index with all files, while it runs, and the differences that comparisons of
   * this process have found.
   */
  watchComparison(comparison: {
    state(): { files: number; total?: number } | undefined
    differences(): Differences
  }): void
  /** Registers functions that read the state of the index. If one fails, what it returns is not reported. */
  watchIndex(index: {
    /** Which parts of the index have all files. */
    ready(): Promise<Record<'lists' | 'counters' | 'search', boolean>>
    /** The number of clients whose files move to other partitions, or whose move was interrupted. */
    moves(): Promise<number>
  }): void
  /** Registers a function that finds out whether bucket and index respond. */
  watchStores(check: () => Promise<{ bucket: boolean; index: boolean }>): void
  /** An attempt of a job has ended. */
  jobEnded(job: { kind: string; outcome: JobOutcome; seconds: number }): void
  /** An attempt to deliver an event to a receiver has ended, or the event could not be queued. */
  webhookAttempted(attempt: { outcome: WebhookOutcome; seconds: number }): void
  /** The malware scan of a file has ended. */
  scanned(result: 'clean' | 'infected'): void
  /** Registers a function that counts the jobs that wait and run. If it fails, nothing is reported. */
  watchJobs(load: () => Promise<ReadonlyArray<{ kind: string; waiting: number; running: number }>>): void
  /** A call of the bucket or of the index has ended. */
  storageCalled(call: {
    store: 'bucket' | 'index'
    operation: string
    failed: boolean
    seconds: number
  }): void
}

/** `failed`: permanently. `put_off`: deferred, the attempt does not count. `aborted`: its process ends, or it took too long. */
export type JobOutcome = 'done' | 'failed' | 'retried' | 'put_off' | 'aborted'

export type TransformOutcome = 'done' | 'refused' | 'failed' | 'aborted'

/** `failed`: no further attempt follows. `dropped`: the receiver gets no events any more. */
export const WEBHOOK_OUTCOMES = ['delivered', 'retried', 'failed', 'dropped'] as const

export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number]

/** Differences of index and buckets, in files. */
export interface Differences {
  /** Added to the index. */
  added: number
  /** Removed from the index, because the bucket has no object of the file. */
  removed: number
  /** Not removed: the file could not be added to the index. The log names it. */
  failed: number
}

/** Reads the metrics of this process. */
export interface MetricsReader {
  /** In the text format of Prometheus, see {@link METRICS_CONTENT_TYPE}. */
  text(): Promise<string>
  /** The metrics as data, to be aggregated with those of other processes. It can be sent between processes. */
  parts(): Promise<unknown>
}

/** @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
