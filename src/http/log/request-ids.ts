import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Span, Tracing } from '../../core/ports/telemetry/tracing.ts'
import type { RequestContext, TraceContext } from '../../core/request-context.ts'
import { isHealthCheck } from '../system/health.ts'

/** The names of a request. */
export interface Identity {
  context: RequestContext
  /** Whether a proxy has named it. */
  isOfProxy: boolean
  /** The span of the request, which `context` names. Absent when requests are not traced. */
  span?: Span
}

/** Names a request, and begins its span. @param startedAt as `performance.now()` */
export type Identify = (req: IncomingMessage, startedAt: number) => Identity

// The IDs of nginx, Heroku, Envoy, Cloudflare and AWS (`Root=1-67891233-abcdef012345678912345678`) fit.
const REQUEST_ID = /^[\w.~:+/=@-]{1,128}$/
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/
const TRACESTATE = /^[\x20-\x7e]{1,512}$/

/**
 * Creates the function that names each request: as a proxy in front has named it in `X-Request-Id` and `traceparent`, otherwise by an ID
 * of its own. An invalid value of a proxy is replaced by a new one, or by the trace that `tracing` begins. Other callers must not choose these names, with which an operator
 * searches the log.
 *
 * @param trustsPeer whether the other end of the connection is a proxy that `TRUST_PROXY` names
 * @param tracing undefined: no span is recorded, and the trace of a proxy is passed on as it came
 */
export function createIdentify(
  trustsPeer: (req: IncomingMessage) => boolean,
  tracing: Tracing | undefined,
): Identify {
  const identify = createNaming(trustsPeer, { replacesInvalid: tracing === undefined })
  if (!tracing) return identify
  return (req, startedAt) => {
    const named = identify(req)
    if (isHealthCheck(req)) return named
    const { method = '' } = req
    const span = tracing.begin(method, { kind: 'server', parent: named.context.trace, startedAt })
    return { ...named, context: { ...named.context, trace: span.trace }, span }
  }
}

/** @param options.replacesInvalid whether an invalid `traceparent` is replaced by a trace, or is as if it were absent */
function createNaming(
  trustsPeer: (req: IncomingMessage) => boolean,
  { replacesInvalid }: { replacesInvalid: boolean },
): (req: IncomingMessage) => Identity {
  return (req) => {
    const { 'x-request-id': id, traceparent } = req.headers
    if ((id === undefined && traceparent === undefined) || !trustsPeer(req))
      return { context: { requestId: randomUUID() }, isOfProxy: false }
    const requestId = typeof id === 'string' && REQUEST_ID.test(id) ? id : randomUUID()
    if (traceparent === undefined) return { context: { requestId }, isOfProxy: true }
    const received = traceOf(traceparent, req.headers.tracestate)
    const trace = received ?? (replacesInvalid ? newTrace() : undefined)
    return { context: trace ? { requestId, trace } : { requestId }, isOfProxy: true }
  }
}

/** The span of the proxy, as its headers name it; undefined when they are invalid. */
function traceOf(
  received: string | string[],
  state: string | string[] | undefined,
): TraceContext | undefined {
  const [, version, trace, span, flags, more] = TRACEPARENT.exec(String(received)) ?? []
  if (flags === undefined || (version === '00' && more !== undefined)) return undefined
  // A later version may have other flags. Of these, version 00 has the first bit only.
  const known = version === '00' ? flags : `0${Number.parseInt(flags, 16) & 1}`
  const traceparent = `00-${trace}-${span}-${known}`
  const tracestate = [state ?? []].flat().join(',')
  return TRACESTATE.test(tracestate) ? { traceparent, tracestate } : { traceparent }
}

/** A trace that begins here, and is not sampled: nothing of this service is sent to a collector. */
function newTrace(): TraceContext {
  return { traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00` }
}
