/** One part of a query, between two `&`. */
export interface QueryPair {
  /** As received, percent-encoded. Signatures cover this text. */
  raw: string
  /** Decoded; absent for an empty part, as in `a=1&&b=2`. */
  named?: readonly [name: string, value: string]
}

/** Path and query of a request target: the path as received, the query decoded once. */
export interface ParsedTarget {
  path: string
  /** In the order of the query. */
  pairs: readonly QueryPair[]
}

/** Parses the target of a request: `/path?a=1&b=2`. */
export function parseTarget(target: string): ParsedTarget {
  const at = target.indexOf('?')
  if (at === -1) return { path: target, pairs: [] }
  return { path: target.slice(0, at), pairs: parsePairs(target.slice(at + 1)) }
}

function parsePairs(query: string): QueryPair[] {
  const named = new URLSearchParams(query).entries()
  return query.split('&').map((raw, i) => {
    // URLSearchParams ignores empty parts, and one "?" at the start.
    const isEmpty = raw === '' || (i === 0 && raw === '?')
    const pair = isEmpty ? undefined : named.next().value
    return pair ? { raw, named: pair } : { raw }
  })
}
