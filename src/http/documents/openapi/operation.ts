import { STATUS_CODES } from 'node:http'
import { methodOf, templateOf } from '../../endpoint/route.ts'
import type { Content, DocumentedEndpoint, Example, Parameter, Success } from '../endpoint.ts'
import { HEADERS, type HeaderName } from '../headers.ts'
import type { JsonSchema } from '../json-schema.ts'
import { PATH_PARAMETERS } from '../parameters.ts'
import { problemResponses } from './problems.ts'
import { proofOf } from './proof.ts'
import { schemaRef } from './schemas.ts'
import type { SharedParts } from './shared.ts'

const PROBLEM = 'application/problem+json'

/** The path of an endpoint in the document. */
export function documentedPath({ route, path }: DocumentedEndpoint): string {
  return path ?? templateOf(route)
}

/** All parameters of an endpoint: those of its path first. */
export function parametersOf(endpoint: DocumentedEndpoint): readonly Parameter[] {
  const { parameters = [] } = endpoint
  const names = [...documentedPath(endpoint).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const missing = names.filter((name) => !parameters.some((one) => one.in === 'path' && one.name === name))
  return [...missing.map(pathParameter), ...parameters]
}

function pathParameter(name: string): Parameter {
  const parameter = PATH_PARAMETERS[name]
  if (!parameter) throw new Error(`the API document has no description of the path parameter ${name}`)
  return parameter
}

/** The parts that operations share. */
export interface Shared {
  parameters: SharedParts
  responses: SharedParts
}

/** The Operation Object of an endpoint. */
export function operation(endpoint: DocumentedEndpoint, shared: Shared): JsonSchema {
  const { id, tag, summary, description, access, body, isBodyOptional = false } = endpoint
  const { security, sentence } = proofOf(access)
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: description === undefined ? sentence : `${description}\n\n${sentence}`,
    security,
    parameters: parametersOf(endpoint).map((one) => parameterObject(one, endpoint, shared)),
    ...(body ? { requestBody: { required: !isBodyOptional, content: requestContent(body, endpoint) } } : {}),
    responses: responses(endpoint, shared),
  }
}

function parameterObject(
  { name, aliases = [], required = false, ...rest }: Parameter,
  { examples = [] }: DocumentedEndpoint,
  shared: Shared,
): JsonSchema {
  // The values of a refused request need not conform to the schema.
  const shown = examples.filter(
    ({ status, parameters = {} }) => status < 400 && Object.hasOwn(parameters, name),
  )
  const parameter = { name, ...rest, required, ...(aliases.length > 0 ? { 'x-aliases': aliases } : {}) }
  if (shown.length === 0) return shared.parameters.ref(`${rest.in}_${name}`, parameter)
  const valueIn = ({ parameters = {} }: Example) => typed(parameters[name], rest.schema)
  return { ...parameter, examples: byId(shown, valueIn) }
}

/** The value of a parameter in the type of its schema: examples have texts, as in a URL. */
function typed(text: string | undefined, { type, anyOf = [] }: JsonSchema): unknown {
  const types = [type, ...(anyOf as JsonSchema[]).map((one) => one.type)]
  const isNumber = types.includes('integer') || types.includes('number')
  return isNumber && !Number.isNaN(Number(text)) ? Number(text) : text
}

function requestContent(
  body: Readonly<Record<string, Content>>,
  { examples = [] }: DocumentedEndpoint,
): JsonSchema {
  const [only] = Object.keys(body)
  return Object.fromEntries(
    Object.entries(body).map(([mediaType, content]) => {
      // The bytes of a file are no text of the document.
      const shown = 'schema' in content ? examples.filter((one) => (one.mediaType ?? only) === mediaType) : []
      return [mediaType, { schema: bodySchema(content), ...exampleObjects(shown, ({ body: sent }) => sent) }]
    }),
  )
}

function responses(endpoint: DocumentedEndpoint, shared: Shared): JsonSchema {
  const { examples = [] } = endpoint
  const byStatus = new Map<number, JsonSchema>()
  for (const [status, success] of Object.entries(endpoint.responses))
    byStatus.set(
      Number(status),
      successObject(
        success,
        examples.filter((one) => one.status === Number(status)),
      ),
    )
  for (const { status, description, headers, schema } of problemResponses(endpoint)) {
    const known = byStatus.get(status) as
      | { description: string; content?: object; headers?: object }
      | undefined
    const response = {
      description: known ? `${known.description} Or ${description}` : description,
      headers: { ...known?.headers, ...headerObjects(headers) },
      ...(methodOf(endpoint.route) === 'HEAD'
        ? {}
        : { content: { ...known?.content, [PROBLEM]: { schema } } }),
    }
    byStatus.set(status, known ? response : shared.responses.ref(nameOf(status), response))
  }
  return Object.fromEntries([...byStatus].sort(([one], [other]) => one - other))
}

/** A name of a status in camel case: `TooManyRequests`. */
function nameOf(status: number): string {
  return (STATUS_CODES[status] ?? `Status ${status}`).replaceAll(/[^A-Za-z0-9]/g, '')
}

function successObject(
  { description, content, headers = [] }: Success,
  examples: readonly Example[],
): JsonSchema {
  return {
    description,
    headers: headerObjects(headers),
    ...(content
      ? {
          content: Object.fromEntries(
            Object.entries(content).map(([mediaType, one]) => [
              mediaType,
              { schema: bodySchema(one), ...exampleObjects(examples, ({ response }) => response) },
            ]),
          ),
        }
      : {}),
  }
}

/** References to the headers that every response has, and to these. */
function headerObjects(names: readonly HeaderName[]): JsonSchema {
  return Object.fromEntries(
    (['X-Request-Id', ...names] as const).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}

/** The Header Objects of the document. */
export function headerComponents(): JsonSchema {
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, { description, schema, ...rest }]) => [
      name,
      { description, required: !('isOptional' in rest), schema },
    ]),
  )
}

function bodySchema(content: Content): JsonSchema {
  return 'schema' in content ? schemaRef(content.schema) : content.json
}

function exampleObjects(examples: readonly Example[], valueIn: (one: Example) => unknown): JsonSchema {
  const shown = examples.filter((one) => valueIn(one) !== undefined)
  return shown.length > 0 ? { examples: byId(shown, valueIn) } : {}
}

function byId(examples: readonly Example[], valueIn: (one: Example) => unknown): JsonSchema {
  return Object.fromEntries(examples.map((one) => [one.id, { summary: one.summary, value: valueIn(one) }]))
}
