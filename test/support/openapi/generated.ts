import { createGeneratorSync, type JsonSchema as FakedSchema } from 'json-schema-faker'
import type { JsonSchema } from '../../../src/http/documents/json-schema.ts'
import type { OpenApiDocument } from '../../../src/http/documents/openapi/document.ts'
import { seededRandom } from '../../contracts/random.ts'

/** Values that people and programs send by mistake, and some that attackers send. */
const ODD: readonly unknown[] = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1e999',
    '99999999999999999999',
    'NaN',
    'null',
    '[]',
    '{"a":1}',
    'true',
    '..',
    '../../etc/passwd',
  ],
  ...[
    'a/b',
    '/',
    '\\',
    '%00',
    '\u0000',
    '\u202e',
    'é日本',
    '😀',
    'a'.repeat(3000),
    "' OR 1=1 --",
    '<script>',
    '*',
    '?',
    '#',
  ],
  ...[true, false, null, [], [[]], {}, { a: { b: {} } }, 0, -1, 0.1, 2 ** 53, 1e308, -1e308, ['a', 1, null]],
]
/** Values of what would reach other servers, or wait: by the name of the parameter or member. */
const FIXED: Readonly<Record<string, unknown>> = {
  url: 'http://127.0.0.1:9/photo.jpg',
  endpoint: 'http://127.0.0.1:9',
  wait: 0,
}
// The link of these is the only right.
const BY_LINK = /\/sign\/\{id\}/

interface Operation {
  path: string
  method: string
  parameters: ReadonlyArray<{ in: string; name: string; schema: JsonSchema; required: boolean }>
  bodies: ReadonlyArray<[mediaType: string, schema: JsonSchema]>
  isOfOperator: boolean
}

/** The operations of a document, without references outside of schemas. */
function operationsOf({ paths, components }: OpenApiDocument): Operation[] {
  const shared = components.parameters as Record<string, Operation['parameters'][number]>
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => {
      const parameters = (one.parameters as Array<{ $ref?: string }>).map((parameter) =>
        parameter.$ref ? shared[parameter.$ref.split('/').at(-1) ?? ''] : parameter,
      )
      const content = (one.requestBody as { content?: Record<string, { schema: JsonSchema }> })?.content ?? {}
      return {
        path,
        method: method.toUpperCase(),
        parameters: parameters as Operation['parameters'],
        bodies: Object.entries(content).map(([mediaType, { schema }]) => [mediaType, schema] as const),
        isOfOperator: JSON.stringify(one.security).includes('"admin"'),
      } as Operation
    }),
  )
}

/** What a request can name that exists. */
export interface Existing {
  /** Of a client. */
  id: string
  token: string
  secret: string
  /** Key of a file. */
  path: string
  /** The token of the operator. */
  admin: string
}

interface GeneratedRequest {
  target: string
  method: string
  headers: Record<string, string>
  body?: Buffer
}

/**
 * Generates requests for all operations of a document, the same for a seed: most are valid, and name what exists; the others have odd
 * values, lack members, or have unknown ones.
 */
export function requestGenerator(
  document: OpenApiDocument,
  seed: number,
): (existing: Existing) => GeneratedRequest {
  const { below, oneOf: pick } = seededRandom(seed)
  const chance = (probability: number) => below(1000) < probability * 1000
  const faker = createGeneratorSync({ seed, optionalsProbability: 0.4, maxItems: 3 } as object)
  const operations = operationsOf(document)

  /** A value of the schema; one of ten is not. */
  const generated = (name: string, schema: JsonSchema): unknown => {
    if (Object.hasOwn(FIXED, name)) return FIXED[name]
    if (chance(0.1)) return pick(ODD)
    return faker.generate({ ...schema, components: document.components } as FakedSchema)
  }
  /** The value with some of its members removed or replaced. */
  const spoiled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(spoiled)
    if (typeof value !== 'object' || value === null) return chance(0.05) ? pick(ODD) : value
    const members = Object.entries(value)
      .filter(() => !chance(0.05))
      .map(([name, member]) => [name, Object.hasOwn(FIXED, name) ? FIXED[name] : spoiled(member)])
    return Object.fromEntries(chance(0.05) ? [...members, ['unknown', pick(ODD)]] : members)
  }
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

  return (existing) => {
    const { path, method, parameters, bodies, isOfOperator } = pick(operations)
    const known: Record<string, string> = { ...existing, group: 'image' }
    const query = new URLSearchParams()
    const headers: Record<string, string> = {}
    let target = path
    for (const { in: place, name, schema, required } of parameters) {
      if (place === 'path') {
        const value =
          Object.hasOwn(known, name) && chance(0.7) ? known[name] : textOf(generated(name, schema))
        target = target.replace(`{${name}}`, () => encodeURIComponent(value ?? ''))
      } else if (!required && !chance(parameters.length > 20 ? 0.05 : 0.4)) continue
      else if (place === 'query') query.append(name, textOf(generated(name, schema)))
      else headers[name] = textOf(generated(name, schema)).replace(/[^\x20-\x7e]/g, '')
    }
    if (isOfOperator && chance(0.8)) headers.Authorization = `Bearer ${existing.admin}`
    else if (!BY_LINK.test(path) && chance(0.9)) headers.Authorization = `Bearer ${existing.secret}`
    const body = bodies.length === 0 ? undefined : bodyOf(pick(bodies), headers)
    const search = query.size > 0 ? `?${query}` : ''
    return { target: target + search, method, headers, ...(body ? { body } : {}) }
  }

  function bodyOf([mediaType, schema]: [string, JsonSchema], headers: Record<string, string>): Buffer {
    const value = spoiled(faker.generate({ ...schema, components: document.components } as FakedSchema))
    if (mediaType !== 'multipart/form-data') {
      headers['Content-Type'] = mediaType
      return Buffer.from(mediaType === 'application/json' ? JSON.stringify(value) : textOf(value))
    }
    headers['Content-Type'] = 'multipart/form-data; boundary=between'
    const parts = Object.entries((value ?? {}) as object).map(([name, member]) => {
      const fileName = name === 'file' ? '; filename="a.txt"' : ''
      return `--between\r\nContent-Disposition: form-data; name="${name}"${fileName}\r\n\r\n${textOf(member)}\r\n`
    })
    return Buffer.from(`${parts.join('')}--between--\r\n`)
  }
}
