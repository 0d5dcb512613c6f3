// Parts of the route of an endpoint: `GET /v1/files/*path`.

/** The method, in capitals. */
export function methodOf(route: string): string {
  return route.slice(0, route.indexOf(' '))
}

/** The path as a pattern of Express. */
export function pathOf(route: string): string {
  return route.slice(route.indexOf(' ') + 1)
}

/** The path with `{name}` for each parameter. */
export function templateOf(route: string): string {
  return pathOf(route).replace(/[:*](\w+)/g, '{$1}')
}
