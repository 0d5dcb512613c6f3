import { STATUS_CODES } from 'node:http'
import { problem } from '../../wire/problem.ts'
import { COMMON_PROBLEMS } from '../common-problems.ts'
import type { DocumentedEndpoint } from '../endpoint.ts'
import type { HeaderName } from '../headers.ts'
import type { JsonSchema } from '../json-schema.ts'
import { schemaRef } from './schemas.ts'

/** A problem response of an endpoint: all codes of one status. */
export interface ProblemResponse {
  status: number
  description: string
  codes: readonly string[]
  headers: readonly HeaderName[]
  schema: JsonSchema
}

/** Statuses that may have `Retry-After`. */
const RETRIED: ReadonlySet<number> = new Set([423, 429, 503])

/** The problem responses of an endpoint, by ascending status. */
export function problemResponses({ problems }: Pick<DocumentedEndpoint, 'problems'>): ProblemResponse[] {
  const codesByStatus = new Map<number, Set<string>>()
  for (const name of [...COMMON_PROBLEMS, ...problems]) {
    const [status = '', code = ''] = name.split(' ')
    const codes = codesByStatus.get(Number(status)) ?? new Set()
    codesByStatus.set(Number(status), codes.add(code))
  }
  return [...codesByStatus]
    .sort(([one], [other]) => one - other)
    .map(([status, found]) => {
      const codes = [...found].sort()
      return {
        status,
        codes,
        description: `${STATUS_CODES[status] ?? 'Error'}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
        headers: headersOf(status),
        schema: {
          allOf: [
            schemaRef(problem),
            { type: 'object', properties: { code: { type: 'string', enum: codes } }, required: ['code'] },
          ],
        },
      }
    })
}

function headersOf(status: number): HeaderName[] {
  if (status === 401) return ['WWW-Authenticate']
  if (status === 405) return ['Allow']
  if (status === 429) return ['Retry-After', 'RateLimit', 'RateLimit-Policy']
  return RETRIED.has(status) ? ['Retry-After'] : []
}
