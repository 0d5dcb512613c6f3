import type { z } from 'zod'
import type { Action } from '../../core/clients/secret-scope.ts'
import type { HeaderName } from './headers.ts'
import type { JsonSchema } from './json-schema.ts'

/** Status and code of a problem, as a response has them: `'404 file_not_found'`. */
export type ProblemName = `${number} ${string}`

/** A group of endpoints in the API document. */
export type Tag = 'Uploads' | 'Delivery' | 'Files' | 'Links' | 'Clients' | 'Members' | 'Webhooks' | 'Service'

/**
 * The secret of a client that permits this action, or a member of the console whose role does. `everywhere` and `operatorOrSecret` refuse
 * a secret of a folder. `operatorOrSecret` also accepts a session of the operator.
 */
export type SecretAccess = { secret: Action; everywhere?: true } | { operatorOrSecret: Action }

/**
 * What a request has to prove: a secret; a session of the operator; the token of the metrics; a signature, if the
 * client requires signed URLs, or in its place a signed cookie; the link in its path; the cookie of a session of the console; or nothing.
 */
export type DocumentedAccess =
  | SecretAccess
  | 'admin'
  | 'metrics'
  | 'signature'
  | 'signature or cookie'
  | 'link'
  | 'session'
  | 'public'

/** A parameter of the path, the query or the headers. */
export interface Parameter {
  in: 'path' | 'query' | 'header'
  name: string
  description: string
  schema: JsonSchema
  required?: boolean
  /** An aliased parameter of a plugin has its other names here. */
  aliases?: readonly string[]
}

/** A body: JSON with the schema that validates or describes it, or any other content with a JSON schema of its own. */
export type Content = { schema: z.ZodType } | { json: JsonSchema }

/** A successful response. */
export interface Success {
  description: string
  /** Absent: the response has no body. */
  content?: Readonly<Record<string, Content>>
  /** Names of {@link HEADERS}. Those that are not optional are in every response of this status. */
  headers?: readonly HeaderName[]
}

/** A request as a reader would send it, and its response. The tests send each one to a real service. */
export interface Example {
  /** Camel case, unique within the endpoint. */
  id: string
  summary: string
  /** Values of parameters in the path, the query and the headers, by name. */
  parameters?: Readonly<Record<string, string>>
  /** A JSON body, or the text of another one. */
  body?: unknown
  /** The media type of the body. Default: the only one of the endpoint. */
  mediaType?: string
  status: number
  /** The JSON body of the response. */
  response?: unknown
}

/**
 * An endpoint in the API document. A new one is defined in the folder of its noun (`http/aliases`), by `endpoint()` of
 * `http/endpoint/endpoint.ts`, and is added to the list of its folder, or that list to `http/endpoints.ts`.
 *
 * The test services fail for a response that this description does not allow, and `openapi.test.ts` sends the examples.
 */
export interface DocumentedEndpoint {
  /** Method and route, as the log names them: `GET /v1/files/*path`. */
  route: string
  /** The path in the document, when it is not the route with `{name}` for each parameter. */
  path?: string
  /** The problems, in addition to those of all endpoints. */
  problems: readonly ProblemName[]
  /** The `operationId`, in camel case. */
  id: string
  tag: Tag
  summary: string
  description?: string
  access: DocumentedAccess
  /** Parameters of the path may be left out: those of {@link PATH_PARAMETERS} are added by name. */
  parameters?: readonly Parameter[]
  /** The request body by media type. */
  body?: Readonly<Record<string, Content>>
  /** Whether a request without a body is accepted, when there is a `body`. */
  isBodyOptional?: boolean
  /** By status. The problems are added. */
  responses: Readonly<Record<number, Success>>
  examples?: readonly Example[]
}
