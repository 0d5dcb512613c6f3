import { ENDPOINT_PROBLEMS, EVERY_ENDPOINT } from '../../src/http/documents/endpoint-problems.ts'

/** Names of parts of a route, as docs/reference/http-api.md has them. */
const PARTS = { group: 'type', token: 'client token', url: 'encoded url', secretId: 'secret id' }

/** The rows of the table of docs/reference/errors.md: a request, and its errors by status. */
export function endpointErrors() {
  const rows = Object.entries(ENDPOINT_PROBLEMS).filter(([, problems]) => problems.length > 0)
  return [
    ['Every request', byStatus(EVERY_ENDPOINT)],
    ...rows.map(([endpoint, problems]) => [`\`${readable(endpoint)}\``, byStatus(problems)]),
  ]
}

function readable(endpoint) {
  return endpoint.replace(/[:*](\w+)/g, (_, name) => `<${PARTS[name] ?? name}>`)
}

function byStatus(problems) {
  const codes = new Map()
  for (const problem of [...new Set(problems)].sort()) {
    const [status, code] = problem.split(' ')
    codes.set(status, [...(codes.get(status) ?? []), `\`${code}\``])
  }
  return [...codes].map(([status, names]) => `${status}: ${names.join(', ')}`).join('; ')
}
