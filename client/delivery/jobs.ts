import { itemsOf } from '../files/pages.ts'
import type { JobList, ListedJob, MediaJob } from '../generated/api.ts'
import { SluiceError } from '../http/problem.ts'
import type { Api, CallOptions } from '../http/request.ts'
import { wait } from '../http/wait.ts'

/** Options of a wait. */
export interface JobWaitOptions extends CallOptions {
  /** Called after each poll. */
  onProgress?: (job: MediaJob) => void
}

/** Which jobs a list has. */
export interface JobListOptions extends CallOptions {
  state?: ListedJob['state']
  /** Jobs per page, from 1 to 1000. Default: 100. */
  limit?: number
}

/** Media jobs. */
export interface Jobs {
  /** All jobs of the client, the newest first, page by page as they are needed. */
  list(options?: JobListOptions): AsyncIterableIterator<ListedJob>
  /** Returns one page of the list. `next` is the cursor of the next one. */
  page(options?: JobListOptions & { cursor?: string | undefined }): Promise<JobList>
  /** Begins a failed job again. */
  retry(id: string, options?: CallOptions): Promise<ListedJob>
  /** Cancels a job, or removes one that has ended from the list. */
  cancel(id: string, options?: CallOptions): Promise<void>
  /** The state of a job, by the URL that a 423 response has as `job`. */
  get(jobUrl: string, options?: CallOptions): Promise<MediaJob>
  /**
   * Waits until a derivative can be delivered, and returns its URL. Begins its job, if necessary.
   *
   * @param url a delivery URL with parameters, or the URL of a job
   * @throws SluiceError `job_failed`, or that of the delivery URL
   */
  wait(url: string | { toString(): string }, options?: JobWaitOptions): Promise<string>
}

const POLL_MS = 2000

/** Creates the calls for jobs. */
export function createJobs(api: Api): Jobs {
  // Job URLs are public, or signed. So the secret is not sent to them.
  const get = (path: string, { signal }: CallOptions = {}) =>
    api.json<MediaJob>({ path, isAnonymous: true, signal })
  const page: Jobs['page'] = ({ signal, ...query } = {}) => api.json({ path: '/v1/jobs', query, signal })
  const at = (id: string) => `/v1/jobs/${encodeURIComponent(id)}`
  return {
    list: (options = {}) =>
      itemsOf(async (cursor) => {
        const { jobs, next = null } = await page({ ...options, cursor })
        return { items: jobs, cursor: next }
      }),
    page,
    retry: (id, { signal } = {}) => api.json({ method: 'POST', path: `${at(id)}/retry`, signal }),
    cancel: async (id, { signal } = {}) => void (await api.send({ method: 'DELETE', path: at(id), signal })),
    get,
    async wait(given, { onProgress, signal } = {}) {
      const url = String(given)
      const jobUrl = /\/v1\/jobs\//.test(url) ? url : await begunJob(api, url, signal)
      if (jobUrl === undefined) return url
      for (;;) {
        const job = await get(jobUrl, { signal })
        onProgress?.(job)
        if (job.state === 'failed') throw failureOf(job)
        if (job.state === 'done') return job.url ?? url
        await wait(POLL_MS, signal)
      }
    },
  }
}

/** The URL of the job that a request begins. Undefined when the derivative is stored already. */
async function begunJob(
  api: Api,
  path: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    const response = await api.send({ path, kind: 'transfer', isAnonymous: true, signal })
    await response.body?.cancel()
    return undefined
  } catch (error) {
    if (error instanceof SluiceError && error.status === 423 && typeof error.problem?.job === 'string')
      return error.problem.job
    throw error
  }
}

function failureOf({ error }: MediaJob): SluiceError {
  const { detail = 'The job has failed.', status = 0, code = 'job_failed', members } = error ?? {}
  return new SluiceError(detail, { status, code, problem: { ...members, detail, status, code } })
}
