import type { Request, Response } from 'express'
import type { z } from 'zod'
import { checkEverywhere, type Grant } from '../../core/clients/grant.ts'
import type { LimitName } from '../../core/clients/limit-names.ts'
import type { Action } from '../../core/clients/secret-scope.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { MemberSession } from '../../service/members/sessions.ts'
import { checkBodyType, jsonBody } from '../body/json.ts'
import { checkedBody } from '../body/parse.ts'
import { callerBySecret } from '../caller/caller.ts'
import { checkOperator } from '../caller/operator.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { signedInMember } from '../console/console-session.ts'
import { checkNotCrossSite } from '../console/sign-in-limit.ts'
import type { Endpoint, Success } from '../documents/endpoint.ts'
import type { HeaderName } from '../documents/headers.ts'
import {
  ADMIN,
  JSON_BODY,
  OPERATOR_OR_SECRET,
  type ProblemName,
  QUERY,
  SECRET,
} from '../documents/problem-groups.ts'
import { clientGone, hasBody, queryPairs } from '../request.ts'
import { stateOf } from '../request-state.ts'
import { noteBody } from './named.ts'
import { type QueryParameters, type QueryValues, readQuery } from './query.ts'

/**
 * What a request has to prove before its handler is called, and so what the handler gets as `caller`:
 *
 * - `secret`: the secret of a client that permits this action, or a member of the console whose role does. With `everywhere`,
 *   secrets that are restricted to a folder are refused
 * - `operatorOrSecret`: the same, or a session of the operator
 * - `admin`: a session of the operator, or of an owner of the console
 * - `session`: the cookie of a session of the console
 * - `sameSite`: that no page of another site sends it
 * - `public`: nothing
 */
export type Access =
  | { secret: Action; everywhere?: true }
  | { operatorOrSecret: Action }
  | 'admin'
  | 'session'
  | 'sameSite'
  | 'public'

/** The sender of a request: the operator, without a client, or a client. */
export interface OperatorOrClient {
  client: Grant['client'] | undefined
}

type CallerOf<A> = A extends { secret: Action }
  ? Grant
  : A extends { operatorOrSecret: Action }
    ? OperatorOrClient
    : A extends 'session'
      ? MemberSession
      : undefined

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

/** A response: JSON (by default with 200), or nothing (204). It is never cached. */
export interface Reply {
  status?: number
  json?: unknown
  headers?: Readonly<Record<string, string>>
}

/** The services that check requests. */
export interface AccessServices {
  clients: Clients
  adminSessions: Pick<AdminSessions, 'check'>
  limits: Limits
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

/**
 * All that is known about an endpoint. The route, its checks, the API document, the tables of problems, the audit log and the types of
 * clients are derived from it. @see {@link Endpoint} for the other members
 */
export interface Definition<S, A extends Access, Q extends QueryParameters, B, O extends boolean>
  extends Omit<Endpoint, 'access' | 'body' | 'isBodyOptional' | 'problems' | 'isRateLimited'> {
  access: A
  /** The parameters of the query. Absent: the query is ignored. */
  query?: Q
  /** The schema of the JSON body. It must be {@link named}. */
  body?: z.ZodType<B>
  /** Whether a request without a body is accepted. */
  isBodyOptional?: O
  /** Maximum size of the body in bytes. */
  bodyMaxBytes?: number
  /** Members of the body whose values no response may repeat. */
  secretMembers?: readonly string[]
  /** The rate limit of which each request takes a point. */
  limited?: LimitName
  /** The problems, in addition to those of all endpoints and those of its access, query, body and rate limit. */
  problems?: readonly ProblemName[]
  /** The action in the audit log, for an endpoint that changes something. */
  audit?: string
  /** Other methods of this path belong to an endpoint with a longer wildcard, and are not refused here. */
  passesOn?: true
  /** Called when the type of the body is known to be right, before it is read: its error is the response. */
  beforeBody?(services: S, exchange: Pick<Call<A, Q, B, O>, 'req' | 'res'>): Promise<void>
  handle(services: S, call: Call<A, Q, B, O>): Reply | undefined | Promise<Reply | undefined>
}

/** An endpoint for the API document that can be served, too. */
export interface ServedEndpoint<S> extends Endpoint {
  problems: readonly ProblemName[]
  audit?: string
  passesOn?: true
  serve(services: S & AccessServices, req: Request, res: Response): Promise<void>
}

const NO_QUERY = {}
// Enough for the longest path with each character escaped.
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
    problems = [],
    beforeBody,
    handle,
    ...described
  } = definition
  if (body) noteBody(body)
  return {
    ...described,
    access: documentedAccess(access),
    parameters: [...(described.parameters ?? []), ...inQuery(query)],
    ...(body ? { body: { 'application/json': { schema: body } } } : {}),
    problems: [
      ...problemsOf(access),
      ...(body ? JSON_BODY : []),
      ...(query ? QUERY : []),
      ...(limited ? (['429 rate_limited'] as const) : []),
      ...problems,
    ],
    ...(limited ? { isRateLimited: true } : {}),

    async serve(services, req, res) {
      stateOf(req).endpoint = { audit: described.audit, isOfOperator: access === 'admin' }
      const caller = callerOf(access, req, services) as CallerOf<A>
      if (limited) {
        const { client } = (caller ?? {}) as Partial<OperatorOrClient>
        await consumeRateLimit(req, res, { limits: services.limits, limited, ...(client ? { client } : {}) })
      }
      const reply = await handle(services, {
        ...{ req, res, caller },
        params: req.params as Record<string, string>,
        query: (query ? readQuery(query, queryPairs(req)) : {}) as QueryValues<Q>,
        body: (body ? await readBody(body) : undefined) as O extends true ? B | undefined : B,
        signal: clientGone(res),
      })
      if (reply) send(res, reply)

      async function readBody(schema: z.ZodType<B>): Promise<B | undefined> {
        if (described.isBodyOptional && !hasBody(req)) return undefined
        checkBodyType(req)
        await beforeBody?.(services, { req, res })
        const { minBytesPerSecond } = services
        const read = await jsonBody(req, { maxBytes: bodyMaxBytes ?? BODY_MAX_BYTES, minBytesPerSecond })
        return checkedBody(schema, read, secretMembers ? { secret: secretMembers } : {})
      }
    },
  }
}

/** A response with JSON, for `responses`. */
export function json(schema: z.ZodType, description: string, headers: readonly HeaderName[] = []): Success {
  return {
    description,
    content: { 'application/json': { schema } },
    headers: ['Cache-Control', ...headers],
  }
}

function send(res: Response, { json: body, status, headers = {} }: Reply): void {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  res.status(status ?? (body === undefined ? 204 : 200))
  res.setHeader('Cache-Control', 'no-store')
  if (body === undefined) res.end()
  else res.json(body)
}

function documentedAccess(access: Access): Endpoint['access'] {
  if (access === 'sameSite') return 'public'
  if (typeof access === 'string') return access
  return 'secret' in access ? 'secret' : 'operator or secret'
}

function problemsOf(access: Access): readonly ProblemName[] {
  if (access === 'public') return []
  if (access === 'sameSite') return ['403 cross_site']
  if (access === 'session') return ['401 not_signed_in', '403 cross_site']
  if (access === 'admin') return ADMIN
  return 'secret' in access ? SECRET : OPERATOR_OR_SECRET
}

/** @throws Problem 401, 403 */
function callerOf(
  access: Access,
  req: Request,
  { clients, adminSessions }: Pick<AccessServices, 'clients' | 'adminSessions'>,
): Grant | OperatorOrClient | MemberSession | undefined {
  if (access === 'public') return undefined
  // Nor may a page of another site sign a visitor in as a member of its own.
  if (access === 'sameSite') return void checkNotCrossSite(req)
  if (access === 'session') {
    checkNotCrossSite(req)
    return signedInMember(req)
  }
  if (access === 'admin') return void checkOperator(req, adminSessions)
  if ('operatorOrSecret' in access && isOfOperator(req)) {
    checkOperator(req, adminSessions)
    return { client: undefined }
  }
  const grant = callerBySecret(req, clients, 'secret' in access ? access.secret : access.operatorOrSecret)
  if ('operatorOrSecret' in access || access.everywhere) checkEverywhere(grant)
  return grant
}

/** Whether a request is for all clients: with the token of the operator, or of the console without a client. */
function isOfOperator(req: Request): boolean {
  if (stateOf(req).console) return req.get('Sluice-Client') === undefined
  return /^Bearer +adm_/i.test(req.headers.authorization ?? '')
}

function inQuery(query: QueryParameters = {}): NonNullable<Endpoint['parameters']> {
  return Object.entries(query).map(([name, { description, schema }]) => ({
    ...{ in: 'query', name, description, schema, required: false },
  }))
}
