import type { IncomingMessage } from 'node:http'
import type { Problem } from '../core/problem.ts'

// A whole segment, value or token: `<token>` as documentation writes it, also percent-encoded. No file name with such a part.
const PLACEHOLDER = /(?:^|[/=\s])(?:<|%3C)([A-Za-z](?:[\w-]| |%20){0,40})(?:>|%3E)(?=$|[/?&\s])/i

const VALUES: Readonly<Record<string, string>> = {
  token: "your client's public token",
  client_token: "your client's public token",
  secret: "your client's secret token",
  sourcename: 'the sourceName of an uploaded file',
  s3pathoriginal: 'the s3PathOriginal of an uploaded file',
}

/** Adds to a refusal that the URL or the Authorization header has a placeholder from the documentation, such as `<token>`. */
export function withPlaceholderHint(problem: Problem, { url = '', headers }: IncomingMessage): Problem {
  if (![400, 401, 404].includes(problem.status)) return problem
  const [, name] = PLACEHOLDER.exec(url) ?? PLACEHOLDER.exec(headers.authorization ?? '') ?? []
  if (name === undefined) return problem
  const shown = name.replaceAll('%20', ' ')
  const value = VALUES[shown.toLowerCase()] ?? 'its value'
  const sentence = problem.message.replace(/\.?$/, '.')
  return problem.with({ detail: `${sentence} Replace <${shown}> with ${value}.` })
}
