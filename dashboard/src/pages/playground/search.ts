/** Parameters in the address of the page. The router reads `300` as a number, and writes it without quotes only as one. */
export type PlaygroundSearch = Record<string, string | number | boolean>

/** Parameters from the address, without what cannot be one. */
export function readSearch(search: Record<string, unknown>): PlaygroundSearch {
  return Object.fromEntries(
    Object.entries(search).filter((pair): pair is [string, string | number | boolean] =>
      ['string', 'number', 'boolean'].includes(typeof pair[1]),
    ),
  )
}
