import { Router } from 'express'
import { assetFromBytes } from '../../core/bytes/asset.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import { isIgnoredParam } from '../../core/plugin-api/query-names.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import { nearest } from '../../core/text/did-you-mean.ts'
import { truncate } from '../../core/text/truncate.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { FileInfos, Information } from '../../service/delivery/file-info.ts'
import type { Redirects } from '../../service/moves/redirects.ts'
import { callerByToken } from '../caller/caller.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { createOrRedirect } from '../moves/redirect.ts'
import { methodNotAllowed } from '../problem.ts'
import type { Readers } from '../readers/readers.ts'
import { clientGone, flagOf, groupOf, limitedPairs, type QueryPairs } from '../request.ts'
import type { FileInformation } from '../wire/information.ts'
import { corsPublicRead } from './cors.ts'
import { sendAsset } from './send.ts'

interface Dependencies {
  clients: Clients
  informations: FileInfos
  redirects: Redirects
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  limits: Limits
  readers: Readers
  /** Query parameters that are ignored, in addition to the built-in ones. */
  ignoredParams: readonly string[]
}

// More information may be available by then: a limit was raised, a PDF was rendered, or a new version of a library reads the format.
const PROBLEM_MAX_AGE_SECONDS = 60

// The parameter that adds the GPS position of a photo.
const LOCATION = 'location'

/** `GET /v1/<group>/info/<client token>/<path>`: information about an original, as JSON. */
export function infoRoutes(dependencies: Dependencies): Router {
  const { clients, informations, limits, ignoredParams, readers } = dependencies
  const routes = Router({ strict: true, caseSensitive: true })
  const info = '/v1/:group/info/:token/*path'
  const orRedirect = createOrRedirect(dependencies)

  routes.all(info, corsPublicRead)
  routes.get(
    info,
    orRedirect(async (req, res) => {
      const group = groupOf(req)
      const { client, path, query } = callerByToken(req, clients)
      const withLocation = wantsLocation(limitedPairs(query), ignoredParams)
      const signal = clientGone(res)
      const found = await informations.ofPath({
        client,
        caller: anonymousCallerOf(req),
        group,
        path,
        signal,
        beforeRender: () => consumeRateLimit(req, res, { limits, limited: 'derivative', client }),
      })
      const bytes = Buffer.from(JSON.stringify(informationToWire(found, { withLocation })))
      await sendAsset(req, res, {
        asset: assetFromBytes(bytes, {
          mediaType: 'application/json',
          lastModified: new Date(found.record.storedAt),
        }),
        // A tag of this JSON, not of the file: a later version may return more information.
        etag: sha256(bytes).slice(0, 32),
        fullContentRange: 'never',
        variesBy: [],
        ...(found.problem || found.isProvisional ? { maxAgeSeconds: PROBLEM_MAX_AGE_SECONDS } : {}),
        readers,
        signal,
      })
    }),
  )
  routes.all(info, methodNotAllowed('GET', 'HEAD', 'OPTIONS'))
  return routes
}

function wantsLocation(query: QueryPairs, ignoredParams: readonly string[]): boolean {
  const unknown = query.find(([name]) => name !== LOCATION && !isIgnoredParam(name, ignoredParams))
  if (unknown) throw unknownParameter(unknown[0])
  return flagOf(query, LOCATION)
}

function unknownParameter(word: string): Problem {
  const param = truncate(word)
  const near = nearest(word, [LOCATION])
  return new Problem({
    status: 400,
    code: 'unknown_parameter',
    detail: `there is no parameter ${JSON.stringify(param)} for information; ${near ? `did you mean "${near}"?` : `there is ${LOCATION}`}`,
    members: { param, ...(near ? { nearest: near } : {}) },
  })
}

/** The information about a file as JSON members. The GPS position of a photo is included only if it was requested. */
export function informationToWire(
  { name, record, image, media, archive, text, problem }: Information,
  { withLocation }: { withLocation: boolean },
): FileInformation {
  const { exif, ...known } = image ?? {}
  return {
    sourceName: name.sourceName,
    originalName: record.originalName,
    mimeType: name.format.group,
    format: name.format.name,
    mediaType: record.mediaType,
    size: record.size,
    sha256: record.sha256,
    uploadedAt: new Date(record.storedAt).toISOString(),
    ...(record.truncated ? { truncated: true } : {}),
    ...known,
    ...media,
    ...archive,
    ...text,
    ...(exif ? { exif: exif.tags } : {}),
    ...(withLocation && exif?.location ? { location: exif.location } : {}),
    ...(problem ? { problem: { code: problem.code, detail: problem.message } } : {}),
  }
}
