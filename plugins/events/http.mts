import { Problem } from '../../src/core/problem.ts'

/** The access that a configured URL needs: its port, and the private ranges that the operator allows. */
export function accessTo(url: string, addresses: readonly string[]) {
  const { port } = new URL(url)
  return { ports: port === '' ? [] : [Number(port)], addresses }
}

/** For a refused address, returns an error with the necessary variable. Returns any other error unchanged. */
export function withRemedy(error: unknown, { url, variable }: { url: string; variable: string }): unknown {
  if (!(error instanceof Problem) || error.code !== 'url_not_allowed') return error
  const why = error.cause instanceof Error ? error.cause.message : error.message
  const detail = `${new URL(url).host} is not a public address (${why}). Add its range to ${variable}`
  return new Problem({ status: 400, code: error.code, detail })
}

/** Because of the status 502, the request is sent again. */
export function refused(detail: string): Problem {
  return new Problem({ status: 502, code: 'remote_status', detail })
}
