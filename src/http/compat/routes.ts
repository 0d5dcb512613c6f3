import { type Request, type Response, Router } from 'express'
import type { Client } from '../../core/clients/client.ts'
import { parseTarget } from '../../core/net/query.ts'
import { parseRemoteUrl } from '../../core/net/remote-url.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { Aliases } from '../../service/aliases/aliases.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Deliveries } from '../../service/delivery/deliveries.ts'
import type { RemotePictures } from '../../service/remote/transform.ts'
import { admitCompatUrl } from '../caller/signed-url.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import { remotePicture } from '../delivery/remote-picture.ts'
import type { FullContentRange } from '../delivery/send.ts'
import { storedFiles } from '../delivery/stored-file.ts'
import { methodNotAllowed, routeNotFound } from '../problem.ts'
import type { Readers } from '../readers/readers.ts'
import { queryPairs, wildcardPath } from '../request.ts'
import { stateOf } from '../request-state.ts'
import { readCloudinaryUrl } from './cloudinary.ts'
import type { CompatUrl } from './compat-url.ts'
import { readDefaultUploaderUrl } from './default-uploader.ts'
import { findFile } from './find-file.ts'
import { type ImgproxyKeys, readImgproxyUrl } from './imgproxy.ts'
import { readOpeninaryUrl } from './openinary.ts'

/** The other services whose URLs are delivered, with the secrets that verify their signatures. */
export interface CompatOptions {
  services: readonly string[]
  cloudinarySecret?: string | undefined
  imgproxyKeys?: ImgproxyKeys | undefined
  openinarySecret?: string | undefined
}

interface Dependencies {
  compat: CompatOptions
  clients: Clients
  aliases: Pick<Aliases, 'target'>
  deliveries: Deliveries
  remotePictures: RemotePictures
  limits: Limits
  fullContentRange: FullContentRange
  readers: Readers
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

/**
 * `GET /compat/<service>/<client token>/<path of that service>`: a file by the URL of another service, without its host and account.
 * The query is ignored, except for Default Uploader: the others have no parameters in it, but some libraries append a word there.
 */
export function compatRoutes({
  compat,
  clients,
  aliases,
  remotePictures,
  ...delivering
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const sendStored = storedFiles({ clients, ...delivering })
  const sendPicture = remotePicture({ remotePictures, ...delivering })

  const send = async (req: Request, res: Response, { client, url }: { client: Client; url: CompatUrl }) => {
    const { group, source, isSigned, until } = url
    const names = 'url' in source ? [] : source.names.map(({ name }) => name)
    admitCompatUrl(req, { client, clients, names, isSigned, until })
    const query = [...url.query]
    if ('url' in source) return sendPicture(req, res, { client, url: parseRemoteUrl(source.url), query })
    const { path, format, setAt } = await findFile(source.names, { client, group, aliases })
    await sendStored(req, res, {
      client,
      group,
      query: format === undefined ? query : [...query, ['f', format] as const],
      findPath: async () => path,
      ...(setAt === undefined ? {} : { replaceable: { since: setAt } }),
    })
  }

  const services: ReadonlyArray<{ service: string; path: string; read: (req: Request) => CompatUrl }> = [
    {
      service: 'cloudinary',
      path: '/compat/cloudinary/:token/*path',
      read: (req) => readCloudinaryUrl(segmentsOf(req), { secret: compat.cloudinarySecret }),
    },
    {
      service: 'imgproxy',
      path: '/compat/imgproxy/:token/*path',
      read: (req) => readImgproxyUrl(rawPathOf(req), { keys: compat.imgproxyKeys, now: Date.now() }),
    },
    {
      service: 'openinary',
      path: '/compat/openinary/:token/*path',
      read: (req) => readOpeninaryUrl(segmentsOf(req), { secret: compat.openinarySecret }),
    },
    {
      service: 'default-uploader',
      path: '/compat/default-uploader/:token/*path',
      read: (req) => readDefaultUploaderUrl(segmentsOf(req), queryPairs(req)),
    },
  ]
  for (const { service, path, read } of services) {
    routes.all(path, corsPublicRead)
    routes.get(path, async (req, res) => {
      if (!compat.services.includes(service)) throw routeNotFound()
      const client = clients.ofToken(String(req.params.token))
      stateOf(req).clientId = client.id
      await send(req, res, { client, url: read(req) })
    })
    routes.all(path, methodNotAllowed('GET', 'HEAD', 'OPTIONS'))
  }
  return routes
}

/** The segments of the path after the token. Some callers encode its slashes. */
function segmentsOf(req: Request): readonly string[] {
  return wildcardPath(req).split('/')
}

/** The path after the token, percent-encoded as received; decoded once if the caller has encoded its slashes. */
function rawPathOf(req: Request): string {
  const path = parseTarget(req.originalUrl).path.replace(/^\/compat\/[^/]+\/[^/]+/, '')
  return path.includes('/', 1) ? path : `/${wildcardPath(req)}`
}
