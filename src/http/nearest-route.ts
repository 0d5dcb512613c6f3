import leven from 'leven'

const MAX_EDITS = 2

/** The routes that are suggested. A `<name>` and all after it may be anything. */
export const ROUTES = [
  'POST /v1/upload',
  'POST /v1/upload/url',
  'PUT /v1/upload/<name>',
  'DELETE /v1/upload/<s3PathOriginal>',
  'GET /v1/image/upload/<token>/<sourceName>',
  'GET /v1/video/upload/<token>/<sourceName>',
  'GET /v1/audio/upload/<token>/<sourceName>',
  'GET /v1/image/alias/<token>/<name>',
  'GET /v1/image/foreign/<token>/<path>',
  'GET /v1/bucket/<token>/<s3Path>',
  'GET /v1/files',
  'GET /v1/files/<s3PathOriginal>',
  'PATCH /v1/files/<s3PathOriginal>',
  'POST /v1/files/delete',
  'POST /v1/files/restore',
  'POST /v1/files/copy',
  'POST /v1/files/move',
  'GET /v1/folders',
  'GET /v1/aliases',
  'GET /v1/aliases/<name>',
  'PUT /v1/aliases/<name>',
  'GET /v1/foreign',
  'POST /v1/webhooks/test',
  'GET /v1/webhooks/deliveries',
  'POST /v1/webhooks/replay',
  'GET /v1/presets',
  'GET /v1/usage',
  'POST /v1/zip',
  'POST /v1/zip/links',
  'POST /v1/sign',
  'POST /v1/sign/url',
  'POST /v1/sign-in',
  'POST /v1/tus',
  'GET /v1/parameters',
  'GET /v1/clients',
  'POST /v1/clients',
  'GET /healthz',
  'GET /readyz',
] as const

/**
 * The route that was probably meant: `POST /v1/upload` for `POST /v1/uploads`. Undefined when none is at most two edits
 * away; the method decides between equal paths.
 *
 * @param path without the query
 */
export function nearestRoute(method: string, path: string): string | undefined {
  const segments = path.slice(0, 200).split('/').filter(Boolean)
  return ROUTES.map((route) => ({
    route,
    edits: editsTo(route, segments),
    sameMethod: route.startsWith(`${method} `),
  }))
    .filter(({ edits }) => edits <= MAX_EDITS)
    .sort((a, b) => a.edits - b.edits || Number(b.sameMethod) - Number(a.sameMethod))[0]?.route
}

/** Edits between the fixed beginning of a route and the path, whose `/v1` may be missing. */
function editsTo(route: string, segments: readonly string[]): number {
  const parts = route.slice(route.indexOf('/')).split('/').filter(Boolean)
  const fixed = parts.filter((part) => !part.startsWith('<'))
  const isOpen = fixed.length < parts.length
  return Math.min(
    ...[segments, ['v1', ...segments]].map((given) => {
      if (isOpen ? given.length < parts.length : given.length !== parts.length)
        return Number.POSITIVE_INFINITY
      return leven(given.slice(0, fixed.length).join('/'), fixed.join('/'))
    }),
  )
}
