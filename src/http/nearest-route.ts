import leven from 'leven'
import { MEDIA_GROUPS } from '../core/media/groups.ts'
import { methodOf, pathOf } from './endpoint/route.ts'

const MAX_EDITS = 2

/**
 * The routes that may be suggested: those of programs, with `<name>` for each parameter, and with each type of file.
 *
 * @param routes methods and patterns: `GET /v1/files/*path`
 */
export function suggestedRoutes(routes: readonly string[]): string[] {
  return routes
    .filter((route) => /^(?!OPTIONS|HEAD)\w+ \/(?:v1\/|healthz|readyz)/.test(route))
    .flatMap((route) =>
      route.includes('/:group/') ? MEDIA_GROUPS.map((group) => route.replace(':group', group)) : route,
    )
    .map((route) => route.replace('{/}', '').replaceAll(/[:*](\w+)/g, '<$1>'))
}

/**
 * The route that was probably meant: `POST /v1/upload` for `POST /v1/uploads`. Undefined when none is at most two edits
 * away; the method decides between equal paths.
 *
 * @param path without the query
 * @param routes as {@link suggestedRoutes} returns them
 */
export function nearestRoute(method: string, path: string, routes: readonly string[]): string | undefined {
  const segments = path.slice(0, 200).split('/').filter(Boolean)
  return routes
    .map((route) => ({ route, edits: editsTo(route, segments), sameMethod: methodOf(route) === method }))
    .filter(({ edits }) => edits <= MAX_EDITS)
    .sort((a, b) => a.edits - b.edits || Number(b.sameMethod) - Number(a.sameMethod))[0]?.route
}

/** Edits between the fixed parts of a route and the path, whose `/v1` may be missing. */
function editsTo(route: string, segments: readonly string[]): number {
  const parts = pathOf(route).split('/').filter(Boolean)
  // A path of a file has any number of segments.
  const isOpen = /<(?:path|folder)>$/.test(route)
  return Math.min(
    ...[segments, ['v1', ...segments]].map((given) => {
      if (isOpen ? given.length < parts.length : given.length !== parts.length)
        return Number.POSITIVE_INFINITY
      const edits = parts.map((part, i) => (part.startsWith('<') ? 0 : leven(part, given[i] ?? '')))
      return edits.reduce((sum, count) => sum + count, 0)
    }),
  )
}
