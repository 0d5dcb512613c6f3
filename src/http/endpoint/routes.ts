import { Router } from 'express'
import { methodNotAllowed } from '../problem.ts'
import type { AccessServices, ServedEndpoint } from './endpoint.ts'
import { methodOf, pathOf } from './route.ts'

/** The routes of these endpoints, in this order, with the refusal of other methods for each of their paths. */
export function routesOf<E extends ServedEndpoint<never>>(
  endpoints: readonly E[],
  services: ServicesOf<E>,
): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const offered = endpoints.flatMap((endpoint) => {
    const handler = endpoint.handlerOf(services as never)
    return handler ? [{ ...endpoint, handler, ...partsOf(endpoint.route) }] : []
  })
  for (const path of new Set(offered.map((one) => one.path))) {
    const ofPath = offered.filter((one) => one.path === path)
    const [first] = ofPath.flatMap((one) => one.first ?? [])
    // One route per path: Express matches the path of each route again.
    const route = routes.route(path)
    if (first) route.all(first)
    for (const { method, handler } of ofPath) route[method](handler)
    if (ofPath.some(({ passesOn }) => passesOn)) continue
    const also = ofPath.flatMap(({ alsoAllows = [] }) => alsoAllows)
    const refuse = methodNotAllowed(
      ...new Set([...methodsOf(ofPath), ...(first ? ['OPTIONS'] : []), ...also]),
    )
    route.all((req, res, next) => (also.includes(req.method) ? next() : refuse(req, res, next)))
  }
  return routes
}

/** The services of all these endpoints. */
export type ServicesOf<E> = AccessServices &
  ((E extends ServedEndpoint<infer S> ? (services: S) => void : never) extends (services: infer All) => void
    ? All
    : never)

const METHODS = ['get', 'head', 'put', 'post', 'patch', 'delete', 'options'] as const

function partsOf(route: string): { method: (typeof METHODS)[number]; path: string } {
  const method = METHODS.find((one) => one === methodOf(route).toLowerCase())
  if (!method) throw new Error(`no endpoint can be served by ${route}`)
  return { method, path: pathOf(route) }
}

function methodsOf(endpoints: readonly { method: string }[]): string[] {
  return endpoints
    .map(({ method }) => method.toUpperCase())
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}
