import { jobShares } from '../../core/budgets/jobs.ts'
import type { Caller } from '../../core/clients/caller.ts'
import { PRESET_WORD } from '../../core/plugin-api/query-names.ts'
import type { JobOwner, OpenJobs } from '../../core/ports/jobs.ts'
import { Problem, retryAfter } from '../../core/problem.ts'

/** Who may begin media jobs: everyone, requests by a preset or a signed URL, or callers with a secret. */
export type MediaJobsFor = 'everyone' | 'presets' | 'secret'

/** The part of a request that decides whether it may begin a media job. */
export interface MediaRequest {
  caller: Caller
  query: ReadonlyArray<readonly [name: string, value: string]>
  /** Whether the client has signed the URL. */
  isSigned?: boolean | undefined
}

/** @throws Problem 403 when this request may begin no media job */
export function checkMayBegin(request: MediaRequest, allowed: MediaJobsFor): void {
  if (request.caller.isTrusted || allowed === 'everyone') return
  if (allowed === 'presets' && isChosenByClient(request)) return
  const how =
    allowed === 'presets'
      ? 'Request a preset alone, or use a signed URL.'
      : 'Request them in advance, with "transforms" at the upload.'
  throw new Problem({
    status: 403,
    code: 'media_jobs_not_allowed',
    detail: `New transformations by jobs are restricted on this server (MEDIA_JOBS_FOR=${allowed}). ${how}`,
    members: { allowed },
  })
}

/**
 * Refuses a job when the places of its client are taken, as {@link jobShares} divides them. All places are for trusted callers.
 *
 * @param atMost places of a client
 * @throws Problem 429
 */
export function checkPlaces(request: MediaRequest, open: OpenJobs, atMost: number): void {
  const shares = jobShares(atMost)
  if (open.all >= shares.all) throw tooManyJobs(shares.all, 'for this client')
  if (request.caller.isTrusted) return
  if (open.sameAddress >= shares.perAddress) throw tooManyJobs(shares.perAddress, 'from your IP address')
  const ofAnonymous = isChosenByClient(request) ? shares.anonymousByClientChoice : shares.anonymous
  if (open.anonymous >= ofAnonymous) throw tooManyJobs(ofAnonymous, 'from callers without a secret')
}

/** The owner in whose turn the job runs. */
export function jobOwner(client: string, { address, isTrusted }: Caller): JobOwner {
  return isTrusted ? { client } : { client, stranger: address }
}

/** Strangers cannot invent such requests: there are only as many as the client has presets, or has signed. */
export function isChosenByClient({
  query,
  isSigned = false,
}: Pick<MediaRequest, 'query' | 'isSigned'>): boolean {
  return isSigned || (query.length > 0 && query.every(([name]) => name === PRESET_WORD))
}

/** 429: other jobs have to end first. */
function tooManyJobs(limit: number, whose: string): Problem {
  const seconds = 30
  const { members, headers } = retryAfter(seconds)
  return new Problem({
    status: 429,
    code: 'too_many_jobs',
    detail: `Too many media jobs ${whose} (limit ${limit}). Retry after ${seconds} s.`,
    members: { limit, ...members },
    headers: {
      ...headers,
      'RateLimit-Policy': `"jobs";q=${limit}`,
      RateLimit: '"jobs";r=0',
    },
  })
}
