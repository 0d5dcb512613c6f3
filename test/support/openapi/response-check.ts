import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { COMMON_PROBLEMS } from '../../../src/http/documents/common-problems.ts'
import { documentedEndpoints } from '../../../src/http/documents/documented.ts'
import type { DocumentedEndpoint } from '../../../src/http/documents/endpoint.ts'
import { HEADERS } from '../../../src/http/documents/headers.ts'
import { problemResponses } from '../../../src/http/documents/openapi/problems.ts'
import { type Errors, validatorOf } from './validators.ts'

/** A response as the check sees it. */
export interface SeenResponse {
  method: string
  /** The pattern of the route; undefined when a guard has responded. */
  route: string | undefined
  /** The first segment of the path below `/v1/`. */
  group: string | undefined
  status: number
  headers: Readonly<Record<string, unknown>>
  /** The JSON body; undefined for any other. */
  json?: string
  hasBody: boolean
}

const NO_PARAMETERS = { image: [], video: [], audio: [], text: [], application: [] }
const ENDPOINTS = documentedEndpoints(NO_PARAMETERS)
/** The endpoints of each method and route. Several have the same route for different types of files. */
const BY_ROUTE = new Map<string, DocumentedEndpoint[]>()
for (const endpoint of ENDPOINTS)
  BY_ROUTE.set(endpoint.route, [...(BY_ROUTE.get(endpoint.route) ?? []), endpoint])
const PATTERNS = new Set([...BY_ROUTE.keys()].map((route) => route.slice(route.indexOf(' ') + 1)))
const ALL_CODES = new Set(
  ENDPOINTS.flatMap((endpoint) =>
    problemResponses(endpoint).flatMap(({ status, codes }) => codes.map((code) => `${status} ${code}`)),
  ),
)
const PROBLEM = 'application/problem+json'

/** Checks each response of a service against the API document. */
export function watchResponses(): {
  watch(req: IncomingMessage, res: ServerResponse): void
  /** What the document does not allow, each once. */
  failures(): string[]
} {
  const failures = new Set<string>()
  return {
    failures: () => [...failures],
    watch(req, res) {
      const chunks: Buffer[] = []
      let bytes = 0
      const keep = (chunk: unknown) => {
        if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return
        bytes += chunk.length
        if (String(res.getHeader('content-type')).includes('json')) chunks.push(Buffer.from(chunk as string))
      }
      const { write, end, writeHead } = res
      let written: OutgoingHttpHeaders = {}
      // Headers that are given as a list are in no other place.
      res.writeHead = ((status: number, headers?: unknown) => {
        if (Array.isArray(headers)) written = namedHeaders(headers)
        return writeHead.call(res, status, headers as never)
      }) as typeof writeHead
      res.write = ((...args: Parameters<typeof write>) => {
        keep(args[0])
        return write.apply(res, args)
      }) as typeof write
      res.end = ((...args: Parameters<typeof end>) => {
        keep(args[0])
        return end.apply(res, args)
      }) as typeof end
      res.once('close', () => {
        // A response that was broken off is no response of the document.
        if (!res.writableFinished) return
        const path = (req as { route?: { path: string } }).route?.path
        const failure = undocumented({
          method: methodOf(req, path),
          route: path,
          group: req.url?.split('/')[2],
          status: res.statusCode,
          headers: { ...res.getHeaders(), ...written },
          ...(chunks.length > 0 ? { json: Buffer.concat(chunks).toString() } : {}),
          hasBody: bytes > 0,
        })
        if (failure !== undefined) failures.add(failure)
      })
    },
  }
}

function namedHeaders(list: readonly string[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  for (let i = 0; i < list.length; i += 2) headers[String(list[i]).toLowerCase()] = list[i + 1]
  return headers
}

/** Clients that cannot send PATCH name their method in a header of tus. */
function methodOf({ method = '', headers }: IncomingMessage, path: string | undefined): string {
  const override = headers['x-http-method-override']
  return path?.startsWith('/v1/tus') && typeof override === 'string' ? override.toUpperCase() : method
}

/** What of a response the API document does not allow; undefined for a documented response. */
export function undocumented(seen: SeenResponse): string | undefined {
  const failure = seen.route === undefined ? ofGuard(seen) : ofRoute(seen, seen.route)
  return failure && `${seen.method} ${seen.route} ${seen.status}: ${failure}`
}

/** A guard of several routes may respond with any documented problem. */
function ofGuard(seen: SeenResponse): string | undefined {
  // The guard of CORS answers OPTIONS, which browsers send before a request with a secret.
  if (seen.method === 'OPTIONS' && seen.status === 204 && !seen.hasBody) return undefined
  if (seen.status < 400) return 'no route'
  return wrongProblem(seen, (name) => ALL_CODES.has(name))
}

function ofRoute(seen: SeenResponse, pattern: string): string | undefined {
  const endpoint = endpointOf(seen, pattern)
  if (!endpoint) {
    if (!PATTERNS.has(pattern)) return 'an undocumented route'
    // OPTIONS of CORS, which browsers send.
    if (seen.method === 'OPTIONS' && seen.status === 204) return undefined
    return wrongProblem(seen, (name) => (COMMON_PROBLEMS as readonly string[]).includes(name))
  }
  const { status, headers } = seen
  const success = endpoint.responses[status]
  const type = mediaTypeOf(headers)
  if (type === PROBLEM || !success) {
    const codes = problemResponses(endpoint).find((one) => one.status === status)?.codes ?? []
    return wrongProblem(seen, (name) => codes.includes(name.slice(4)))
  }
  const missing = (success.headers ?? [])
    .filter((name) => !('isOptional' in HEADERS[name]))
    .find((name) => headers[name.toLowerCase()] === undefined)
  if (missing) return `no header ${missing}`
  if (!success.content) return seen.hasBody ? 'a body that is not documented' : undefined
  if (seen.method === 'HEAD') return seen.hasBody ? 'a body of HEAD' : undefined
  // A redirect has a text only for clients that accept one.
  if (status < 400 && status >= 300 && !seen.hasBody) return undefined
  const content = success.content[type ?? ''] ?? success.content['*/*']
  if (!content) return `content type ${type}`
  if (!('schema' in content)) return undefined
  return validatorOf(content.schema)(seen.json)
}

function endpointOf({ method, group }: SeenResponse, pattern: string): DocumentedEndpoint | undefined {
  const found =
    BY_ROUTE.get(`${method} ${pattern}`) ?? (method === 'HEAD' ? BY_ROUTE.get(`GET ${pattern}`) : [])
  return found?.find(({ path }) => path?.startsWith(`/v1/${group}/`)) ?? found?.[0]
}

function wrongProblem(seen: SeenResponse, isDocumented: (name: string) => boolean): Errors {
  const type = mediaTypeOf(seen.headers)
  if (type !== PROBLEM) return `content type ${type} of an undocumented status`
  if (seen.method === 'HEAD') return undefined
  const failure = validatorOf('problem')(seen.json)
  if (failure !== undefined) return failure
  const { status, code } = JSON.parse(seen.json ?? '')
  if (status !== seen.status) return `status ${status} in the body`
  // Express answers any 4xx with it.
  return code === 'bad_request' || isDocumented(`${status} ${code}`) ? undefined : `code ${code}`
}

function mediaTypeOf(headers: SeenResponse['headers']): string | undefined {
  return headers['content-type'] === undefined ? undefined : String(headers['content-type']).split(';')[0]
}
