import type { Request, RequestHandler, Response } from 'express'
import type { z } from 'zod'
import type { Grant } from '../../core/clients/grant.ts'
import type { LimitName } from '../../core/clients/limit-names.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { DescribedParameters } from '../../core/plugin-api/describe-parameters.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { Problem } from '../../core/problem.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { RepeatedRequests } from '../../service/clients/repeated-requests.ts'
import { checkBodyType, jsonBody } from '../body/json.ts'
import { checkedBody } from '../body/parse.ts'
import { clientIp } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import type { DocumentedEndpoint, ProblemName, Success } from '../documents/endpoint.ts'
import type { HeaderName } from '../documents/headers.ts'
import { header } from '../documents/parameters.ts'
import { clientGone, hasBody, queryPairs } from '../request.ts'
import { stateOf } from '../request-state.ts'
import {
  type Access,
  type CallerOf,
  callerOf,
  documentedAccess,
  type OperatorOrClient,
  problemsOfAccess,
} from './access.ts'
import { type QueryParameters, type QueryValues, readQuery } from './query.ts'
import { answerOnce, REPEATED } from './repeats.ts'
import { type Reply, sendReply } from './reply.ts'

/** A request to an endpoint, after its access, query and body were checked. */
export interface Call<A, Q, B, O> {
  req: Request
  res: Response
  caller: CallerOf<A>
  /** The parameters of the path. Those of `*` are read with `wildcardPath`. */
  params: Readonly<Record<string, string>>
  query: QueryValues<Q>
  /** The JSON of the body; undefined for an optional one that is absent. */
  body: O extends true ? B | undefined : B
  /** Aborts when the client disconnects. */
  signal: AbortSignal
}

/** The services that check requests. */
export interface AccessServices {
  clients: Clients
  adminSessions: Pick<AdminSessions, 'check'>
  limits: Limits
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
  repeatedRequests: RepeatedRequests
}

/** How requests of a path are routed and audited. */
interface Routing {
  /** The action in the audit log, for an endpoint that changes something. */
  audit?: string
  /** Other methods of this path belong to an endpoint with a longer wildcard, and are not refused here. */
  passesOn?: true
  /** Methods of this path that a later endpoint with a wildcard handles. */
  alsoAllows?: readonly string[]
}

/**
 * All that is known about an endpoint. The route, its checks, the API document, the tables of problems, the audit log and the types of
 * clients are derived from it. @see {@link DocumentedEndpoint} for the other members
 */
export interface Definition<S, A extends Access, Q extends QueryParameters, B, O extends boolean>
  extends Omit<DocumentedEndpoint, 'access' | 'body' | 'isBodyOptional' | 'problems'>,
    Routing {
  access: A
  /** The parameters of the query. Absent: the query is ignored. */
  query?: Q
  /** The refusal of a parameter that is not one of these. */
  refuseOther?: (name: string) => Problem
  /** The schema of the JSON body. It must be {@link named}. */
  body?: z.ZodType<B>
  /** Bodies that the handler reads itself, by media type. */
  bodies?: DocumentedEndpoint['body']
  /** The media types of the body, if there are others than JSON's own. */
  mediaTypes?: readonly string[]
  /** Whether a request without a body is accepted. */
  isBodyOptional?: O
  /** Maximum size of the body in bytes. */
  bodyMaxBytes?: number
  /** Members of the body whose values no response may repeat. */
  secretMembers?: readonly string[]
  /** The rate limit of which each request takes a point. */
  limited?: LimitName
  /**
   * Whether a request with an `Idempotency-Key` is executed once. An endpoint with `bodies` calls `answerOnce` itself. `access` must be a
   * secret of a client.
   */
  once?: true
  /** The problems, in addition to those of all endpoints and those of its access, query, body and rate limit. */
  problems?: readonly ProblemName[]
  /** Called when the type of the body is known to be right, before it is read: its error is the response. */
  beforeBody?(services: S, exchange: Pick<Call<A, Q, B, O>, 'req' | 'res'>): Promise<void>
  handle(services: S, call: Call<A, Q, B, O>): Reply | undefined | Promise<Reply | undefined>
}

/**
 * An endpoint of the API document with its handler. Most are made by {@link endpoint}. Those on the hot path, and those that read or
 * send bytes as they come, are written as they are here, with a handler of their own.
 */
export interface ServedEndpoint<S> extends DocumentedEndpoint, Routing {
  /** Handles every method of the path first. It, or an endpoint of its own, answers OPTIONS, so that method is allowed too. */
  first?: RequestHandler
  /**
   * For an endpoint whose `:group` the document has as one path for each type of file: what differs. Undefined: not for this type.
   * `{Group}` in the ID and `{file}` in the summary are replaced.
   */
  byGroup?(group: MediaGroup, parameters: DescribedParameters): Partial<DocumentedEndpoint> | undefined
  /** The handler of the requests. Undefined: these settings do not offer the endpoint. */
  handlerOf: (services: S & AccessServices) => RequestHandler | undefined
}

/** The problems of a query that is read by its schema. */
const QUERY_PROBLEMS: readonly ProblemName[] = ['400 bad_parameter']
/** The problems of a JSON body. */
export const JSON_PROBLEMS: readonly ProblemName[] = [
  '400 bad_json',
  '400 bad_parameter',
  '413 too_large',
  '415 unsupported_media_type',
]

const KEY = header(
  'Idempotency-Key',
  'Chosen by the client for one request: a repetition with it returns the first response, and changes nothing.',
)
const NO_QUERY = {}
// Enough for the longest path, or email address, name and passwords, with each character escaped.
const BODY_MAX_BYTES = 8 * 1024

/** Defines an endpoint. */
export function endpoint<
  S,
  const A extends Access,
  Q extends QueryParameters = typeof NO_QUERY,
  B = undefined,
  const O extends boolean = false,
>(definition: Definition<S, A, Q, B, O>): ServedEndpoint<S> {
  const {
    access,
    query,
    body,
    bodyMaxBytes,
    secretMembers,
    limited,
    once,
    problems = [],
    beforeBody,
    refuseOther,
    bodies,
    mediaTypes = ['application/json'],
    handle,
    ...described
  } = definition
  return {
    ...described,
    access: documentedAccess(access),
    parameters: [...(described.parameters ?? []), ...inQuery(query), ...(once ? [KEY] : [])],
    ...(bodies ? { body: bodies } : {}),
    ...(body ? { body: Object.fromEntries(mediaTypes.map((type) => [type, { schema: body }])) } : {}),
    problems: [
      ...problemsOfAccess(access),
      ...(body ? JSON_PROBLEMS : []),
      ...(query ? QUERY_PROBLEMS : []),
      ...(limited ? (['429 rate_limited'] as const) : []),
      ...(once ? REPEATED : []),
      ...problems,
    ],

    handlerOf: (services) => async (req, res) => {
      stateOf(req).endpoint = { audit: described.audit, isOfOperator: access === 'admin' }
      const caller = callerOf(access, req, services) as CallerOf<A>
      if (limited) {
        const { client } = (caller ?? {}) as Partial<OperatorOrClient>
        await consumeRateLimit(req, res, { limits: services.limits, limited, ...(client ? { client } : {}) })
      }
      const call = {
        ...{ req, res, caller },
        params: req.params as Record<string, string>,
        query: (query ? readQuery(query, queryPairs(req), refuseOther) : {}) as QueryValues<Q>,
        body: (body ? await readBody(body) : undefined) as O extends true ? B | undefined : B,
        signal: clientGone(res),
      }
      const reply = await (once && body ? repeatable(call) : handle(services, call))
      if (reply) sendReply(res, reply)

      function repeatable(read: Call<A, Q, B, O>): Promise<Reply> {
        return answerOnce(req, {
          repeatedRequests: services.repeatedRequests,
          grant: caller as Grant,
          same: async () => read.body,
          execute: async () => ({ reply: (await handle(services, read)) ?? {}, content: read.body }),
        })
      }

      async function readBody(schema: z.ZodType<B>): Promise<B | undefined> {
        if (described.isBodyOptional && !hasBody(req)) return undefined
        checkBodyType(req, mediaTypes)
        await beforeBody?.(services, { req, res })
        const { minBytesPerSecond } = services
        const maxBytes = bodyMaxBytes ?? BODY_MAX_BYTES
        const read = await jsonBody(req, {
          maxBytes,
          minBytesPerSecond,
          mediaTypes,
          payer: payerOf(caller, req),
        })
        return checkedBody(schema, read, secretMembers ? { secret: secretMembers } : {})
      }
    },
  }
}

/** Whose requests are counted together: those of a client, else those of an address. */
function payerOf(caller: unknown, req: Request): string {
  const { client } = (caller ?? {}) as Partial<OperatorOrClient>
  return client ? `client ${client.id}` : `address ${clientIp(req)}`
}

/** A response with JSON, for `responses`. */
export function json(schema: z.ZodType, description: string, headers: readonly HeaderName[] = []): Success {
  return {
    description,
    content: { 'application/json': { schema } },
    headers: ['Cache-Control', ...headers],
  }
}

function inQuery(query: QueryParameters = {}): NonNullable<DocumentedEndpoint['parameters']> {
  return Object.entries(query).map(([name, { description, schema }]) => ({
    ...{ in: 'query', name, description, schema, required: false },
  }))
}
