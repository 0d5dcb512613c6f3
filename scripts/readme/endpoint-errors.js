import { COMMON_PROBLEMS } from '../../src/http/documents/common-problems.ts'
import { ENDPOINTS } from '../../src/http/endpoints.ts'

/** Names of parts of a route, as docs/reference/http-api.md has them. */
const PARTS = { group: 'type', token: 'client token', url: 'encoded url', secretId: 'secret id' }

/** The rows of the table of docs/reference/errors.md: a request, and its errors by status. */
export function endpointErrors() {
  // HEAD is like GET.
  const rows = ENDPOINTS.filter(({ route, problems }) => problems.length > 0 && !route.startsWith('HEAD '))
  return [
    ['Every request', byStatus(COMMON_PROBLEMS)],
    ...rows.map(({ route, problems }) => [`\`${readable(route)}\``, byStatus(problems)]),
  ]
}

function readable(endpoint) {
  return endpoint.replace('{/}', '').replace(/[:*](\w+)/g, (_, name) => `<${PARTS[name] ?? name}>`)
}

function byStatus(problems) {
  const codes = new Map()
  for (const problem of [...new Set(problems)].sort()) {
    const [status, code] = problem.split(' ')
    codes.set(status, [...(codes.get(status) ?? []), `\`${code}\``])
  }
  return [...codes].map(([status, names]) => `${status}: ${names.join(', ')}`).join('; ')
}
