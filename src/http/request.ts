import type { Request, Response } from 'express'
import { badParameter } from '../core/problem.ts'

/** Aborted when the client has left before its answer was complete. */
export function clientGone(res: Response): AbortSignal {
  const controller = new AbortController()
  const leave = () => {
    if (!res.writableFinished) controller.abort(new DOMException('the client has left', 'AbortError'))
  }
  // Whoever is being handled has the connection, see pipelined.ts: its response closes when that does.
  if (res.destroyed) leave()
  else res.once('close', leave)
  return controller.signal
}

/** Whether the `Content-Type` is this media type, with or without parameters; Express's `is` is false of no body. */
export function isOfType({ headers }: Request, mediaType: string): boolean {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === mediaType
}

/** Whether a body was announced that is not of length 0, RFC 9112 section 6. */
export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** The path that a wildcard route has matched: decoded once by Express, segment by segment. */
export function wildcardPath(req: Request): string {
  const { path } = req.params as { path?: string | string[] }
  return Array.isArray(path) ? path.join('/') : (path ?? '')
}

/** Names and values of the query in their order; repeated names stay repeated. */
export function queryPairs(req: Request): Array<[name: string, value: string]> {
  const at = req.url.indexOf('?')
  return at === -1 ? [] : [...new URLSearchParams(req.url.slice(at + 1))]
}

/** The one value of a name in a query; undefined when it is not there. @throws Problem 400 when there are several */
export function onlyValue(
  query: ReadonlyArray<readonly [name: string, value: string]>,
  param: string,
): string | undefined {
  const values = query.filter(([name]) => name === param).map(([, value]) => value)
  if (values.length > 1) throw badParameter({ param, expected: 'one value', received: values.join(', ') })
  return values[0]
}
