import { Router } from 'express'
import { methodNotAllowed } from '../problem.ts'
import type { AccessServices, ServedEndpoint } from './endpoint.ts'

/** The routes of these endpoints, in this order, with the refusal of other methods for each of their paths. */
export function routesOf<E extends ServedEndpoint<never>>(
  endpoints: readonly E[],
  services: ServicesOf<E> & AccessServices,
): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  for (const path of new Set(endpoints.map(({ route }) => partsOf(route).path))) {
    const ofPath = endpoints.filter(({ route }) => partsOf(route).path === path)
    for (const { route, serve } of ofPath)
      routes[partsOf(route).method](path, (req, res) => serve(services as never, req, res))
    if (ofPath.some(({ passesOn }) => passesOn)) continue
    const also = ofPath.flatMap(({ alsoAllows = [] }) => alsoAllows)
    const refuse = methodNotAllowed(...methodsOf(ofPath), ...also)
    routes.all(path, (req, res, next) => (also.includes(req.method) ? next() : refuse(req, res, next)))
  }
  return routes
}

/** The services of all these endpoints. */
type ServicesOf<E> = (E extends ServedEndpoint<infer S> ? (services: S) => void : never) extends (
  services: infer All,
) => void
  ? All
  : never

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const

function partsOf(route: string): { method: (typeof METHODS)[number]; path: string } {
  const [name = '', path = ''] = route.split(' ')
  const method = METHODS.find((one) => one === name.toLowerCase())
  if (!method) throw new Error(`no endpoint can be served by ${route}`)
  return { method, path }
}

function methodsOf(endpoints: readonly { route: string }[]): string[] {
  return endpoints
    .map(({ route }) => route.slice(0, route.indexOf(' ')))
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}
