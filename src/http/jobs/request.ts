import type { ObjectKey } from '../../core/files/object-key.ts'
import { parseKey } from '../../core/files/object-key.ts'
import type { JobStatus } from '../../core/ports/jobs.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { listed } from '../../core/text/listed.ts'
import type { ClientJob, ClientJobQuery } from '../../service/delivery/client-jobs.ts'
import { checkNames, onlyValue, pageLimit, type QueryPairs } from '../request.ts'
import type { ListedJob } from '../wire/operator/jobs.ts'

/** The state of a job in lists, by its state in the queue. */
export const SHOWN_STATES: Readonly<Record<JobStatus['state'], ListedJob['state']>> = {
  waiting: 'waiting',
  running: 'active',
  failed: 'failed',
  done: 'done',
}

const STATES = Object.entries(SHOWN_STATES) as Array<[JobStatus['state'], ListedJob['state']]>

/** Parses the query of a list of jobs. @throws Problem 400 */
export function readJobsQuery(query: QueryPairs): ClientJobQuery {
  checkNames(query, ['state', 'limit', 'cursor'])
  return {
    state: stateIn(onlyValue(query, 'state')),
    limit: pageLimit(query),
    after: positionIn(onlyValue(query, 'cursor')),
  }
}

/** The cursor of the page after this job. It contains nothing that the job does not. */
export function cursorAfter({ createdAt, key }: ClientJob): string {
  return Buffer.from(`${createdAt} ${key}`).toString('base64url')
}

/** The ID of a job in paths: the key of its derivative has slashes. */
export function jobIdOf(key: ObjectKey): string {
  return Buffer.from(key).toString('base64url')
}

/** The key that an ID names. @throws Problem 404 for another text */
export function keyOfJob(id: string): ObjectKey {
  const key = Buffer.from(id, 'base64url').toString()
  if (parseKey(key)?.variant !== undefined) return key as ObjectKey
  throw new Problem({ status: 404, code: 'job_not_found', detail: 'The client has no such job.' })
}

function stateIn(received: string | undefined): JobStatus['state'] | undefined {
  if (received === undefined) return undefined
  const [state] = STATES.find(([, shown]) => shown === received) ?? []
  if (state) return state
  const expected = `one of ${listed(STATES.map(([, shown]) => shown))}`
  throw badParameter({ param: 'state', expected, received })
}

function positionIn(cursor: string | undefined): ClientJobQuery['after'] {
  if (cursor === undefined) return undefined
  const [, createdAt, key = ''] = /^(\d{1,15}) (.+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (parseKey(key)) return { createdAt: Number(createdAt), key: key as ObjectKey }
  throw badParameter({ param: 'cursor', expected: 'a cursor of an earlier response', received: cursor })
}
