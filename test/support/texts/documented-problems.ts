import { expect } from 'chai'
import { COMMON_PROBLEMS } from '../../../src/http/documents/common-problems.ts'
import type { ProblemName } from '../../../src/http/documents/endpoint.ts'
import { ENDPOINTS } from '../../../src/http/endpoints.ts'

const PROBLEMS: ReadonlyMap<string, readonly ProblemName[]> = new Map(
  ENDPOINTS.map(({ route, problems }) => [route.replace('{/}', ''), problems]),
)

/** What a line of the log about a request has, if the response was a problem. */
interface LoggedProblem {
  method?: string
  route?: string
  status?: number
  code?: string
}

/**
 * Fails when a request got a problem that the list of its endpoint does not have. Routes name themselves in the log; a
 * guard of several routes, such as the one of `/v1/clients`, responds before there is a route.
 */
export function expectDocumentedProblems(
  lines: ReadonlyArray<{ message: string; fields: LoggedProblem }>,
): void {
  const requests = lines.filter(({ message }) => message === 'request').map(({ fields }) => fields)
  expect(undocumented(requests), 'the endpoints list these problems').to.deep.equal([])
}

/** The problems that are not listed, each as `GET /v1/files 404 file_not_found`. */
export function undocumented(requests: readonly LoggedProblem[]): string[] {
  const missing = requests.flatMap(({ method = '', route, status, code }) => {
    // Without a status the client has left before the response. Below 400 the response had begun, and was broken off.
    if (status === undefined || status < 400 || code === undefined || code === 'bad_request') return []
    const problem: ProblemName = `${status} ${code}`
    if (COMMON_PROBLEMS.includes(problem)) return []
    const endpoint = `${method === 'HEAD' ? 'GET' : method} ${route}`
    const lists = route === undefined ? [...PROBLEMS.values()] : [PROBLEMS.get(endpoint) ?? []]
    return lists.some((list) => list.includes(problem)) ? [] : [`${endpoint} ${problem}`]
  })
  return [...new Set(missing)]
}
