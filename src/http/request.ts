import type { Request, Response } from 'express'
import { isMediaGroup } from '../core/media/formats.ts'
import type { MediaGroup } from '../core/media/groups.ts'
import { parseTarget, type QueryPair } from '../core/net/query.ts'
import { parseParameter } from '../core/plugin-api/parameter.ts'
import { badParameter, Problem } from '../core/problem.ts'
import { routeNotFound } from '../core/url-problems.ts'

/** A signal that aborts when the client disconnects before its response is complete. */
export function clientGone(res: Response): AbortSignal {
  const controller = new AbortController()
  const leave = () => {
    if (!res.writableFinished) controller.abort(new DOMException('the client has disconnected', 'AbortError'))
  }
  // Requests on a connection are handled one at a time (connection/pipelining.ts), so the response closes with its connection.
  if (res.destroyed) leave()
  else res.once('close', leave)
  return controller.signal
}

/** Whether the `Content-Type` is this media type, with or without parameters. Express's `is` returns false without a body. */
export function isOfType({ headers }: Request, mediaType: string): boolean {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === mediaType
}

/** Whether the headers announce a body that is not empty, RFC 9112 section 6. */
export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** The media group in a path that begins with `/v1/:group/`. @throws Problem 404 for an unknown group */
export function groupOf({ params }: Request): MediaGroup {
  const group = String(params.group)
  if (!isMediaGroup(group)) throw routeNotFound()
  return group
}

/** The path that a wildcard route has matched. */
export function wildcardPath(req: Request): string {
  return wildcardSegments(req).join('/')
}

/**
 * The segments of the path that the wildcard of a route has matched, each decoded once by Express; empty for other routes.
 *
 * @param name of the wildcard
 */
export function wildcardSegments({ params }: Request, name = 'path'): readonly string[] {
  return [params[name] ?? []].flat()
}

/** Names and values of a query in their order. Repeated names remain repeated. */
export type QueryPairs = ReadonlyArray<readonly [name: string, value: string]>

// A list of files has at most a dozen, an image with all parameters about thirty. Each pair costs 2 µs, and each is checked.
/** The most parameters of a query. */
export const MAX_PAIRS = 200

/** The query of a request. @throws Problem 400 for more than 200 pairs */
export function queryPairs(req: Request): QueryPairs {
  return limitedPairs(namedPairs(parseTarget(req.url).pairs))
}

/** Names and values of a parsed query, without its empty parts. */
export function namedPairs(pairs: readonly QueryPair[]): QueryPairs {
  return pairs.map(({ named }) => named).filter((named) => named !== undefined)
}

/** The same pairs. @throws Problem 400 for more than 200 */
export function limitedPairs(pairs: QueryPairs): QueryPairs {
  if (pairs.length > MAX_PAIRS) throw tooManyParameters(pairs.length)
  return pairs
}

function tooManyParameters(received: number): Problem {
  return new Problem({
    status: 400,
    code: 'too_many_parameters',
    detail: `A query may have at most ${MAX_PAIRS} parameters, received ${received}.`,
  })
}

/** The value of a name in a query; undefined when it is absent. @throws Problem 400 when it is repeated */
export function onlyValue(query: QueryPairs, param: string): string | undefined {
  const values = query.filter(([name]) => name === param).map(([, value]) => value)
  if (values.length > 1) throw badParameter({ param, expected: 'one value', received: values.join(', ') })
  return values[0]
}

/** Whether a flag of the query is set: `?now` or `?now=1`. @throws Problem 400 for another value, or when it is repeated */
export function flagOf(query: QueryPairs, param: string): boolean {
  return readFlag(onlyValue(query, param), param)
}

/** Whether the value of a flag switches it on. Undefined does not. @throws Problem 400 for another value */
export function readFlag(received: string | undefined, param: string): boolean {
  return received !== undefined && parseParameter(param, { type: 'flag', help: '' }, received) === true
}

/** Checks the names in a query. @throws Problem 400 for a name that is not listed */
export function checkNames(query: QueryPairs, names: readonly string[]): void {
  const other = query.find(([name]) => !names.includes(name))
  if (!other) return
  const [param, received] = other
  const expected = `only ${names.join(' and ')} in the query, and nothing`
  throw badParameter({ param, expected, received })
}
