/** What operators watch: figures that are added up, never names of files, clients or tokens. All times in seconds. */
export interface Metrics {
  /** A request has ended. `status`: `aborted` when the client has left before its answer began. */
  requestEnded(request: {
    /** The template; undefined when there is no such route. */
    route: string | undefined
    method: string
    status: number | 'aborted'
    seconds: number
    /** To the client, headers included. */
    bytes: number
    receivedBytes: number
  }): void
  /** A derivative was looked for: `hit` when it was stored, `miss` when it had to be made or waited for. */
  derivativeLookedUp(found: 'hit' | 'miss'): void
  /** A transformation has run. `refused`: a Problem, the source's or the request's fault. */
  transformed(run: { outcome: TransformOutcome; seconds: number }): void
  /** Where to ask how many transformations run and wait at the moment. */
  watchTransforms(load: () => { running: number; waiting: number }): void
  /** An attempt of a job has ended. */
  jobEnded(job: { kind: string; outcome: JobOutcome; seconds: number }): void
  /** Where to ask how many jobs wait and run; of those that cannot be counted nothing is reported. */
  watchJobs(load: () => Promise<ReadonlyArray<{ kind: string; waiting: number; running: number }>>): void
  /** A call of the bucket or of the index has ended. */
  storageCalled(call: {
    store: 'bucket' | 'index'
    operation: string
    failed: boolean
    seconds: number
  }): void
}

/** `failed`: permanently. `put_off`: without a count, since there was no room. `aborted`: its process ends, or it took too long. */
export type JobOutcome = 'done' | 'failed' | 'retried' | 'put_off' | 'aborted'

export type TransformOutcome = 'done' | 'refused' | 'failed' | 'aborted'

/** What has been measured. */
export interface MetricsReader {
  /** In the text format of Prometheus, see {@link METRICS_CONTENT_TYPE}. */
  text(): Promise<string>
  /** To be put together with those of other processes; survives a message between processes. */
  parts(): Promise<unknown>
}

/** @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
