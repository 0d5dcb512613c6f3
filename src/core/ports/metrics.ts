/** Metrics for operators. They never contain names of files, clients or tokens. All times are in seconds. */
export interface Metrics {
  /** A request has ended. `status`: `aborted` when the client disconnected before the response began. */
  requestEnded(request: {
    /** The template of the route; undefined when no route matches. */
    route: string | undefined
    method: string
    status: number | 'aborted'
    seconds: number
    /** Bytes sent to the client, headers included. */
    bytes: number
    receivedBytes: number
  }): void
  /** A derivative was requested: `hit` when it was stored, `miss` when the request had to render it or to wait for it. */
  derivativeLookedUp(found: 'hit' | 'miss'): void
  /** A transformation has run. `refused`: it failed with a Problem that the source or the request caused. */
  transformed(run: { outcome: TransformOutcome; seconds: number }): void
  /** Sets the function that counts the running and waiting transformations. */
  watchTransforms(load: () => { running: number; waiting: number }): void
  /** An attempt of a job has ended. */
  jobEnded(job: { kind: string; outcome: JobOutcome; seconds: number }): void
  /** Sets the function that counts the waiting and running jobs. Kinds that cannot be counted at the moment are not reported. */
  watchJobs(load: () => Promise<ReadonlyArray<{ kind: string; waiting: number; running: number }>>): void
  /** A call of the bucket or of the index has ended. */
  storageCalled(call: {
    store: 'bucket' | 'index'
    operation: string
    failed: boolean
    seconds: number
  }): void
}

/**
 * `failed`: permanently. `put_off`: delayed, without counting the attempt, since there was no room. `aborted`: the process
 * stops, or the attempt took too long.
 */
export type JobOutcome = 'done' | 'failed' | 'retried' | 'put_off' | 'aborted'

export type TransformOutcome = 'done' | 'refused' | 'failed' | 'aborted'

/** Reads the metrics of this process. */
export interface MetricsReader {
  /** All metrics in the text format of Prometheus, see {@link METRICS_CONTENT_TYPE}. */
  text(): Promise<string>
  /** All metrics in a form that is sent to another process and merged with the metrics of the others. */
  parts(): Promise<unknown>
}

/** @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
