import type { Request, Response } from 'express'
import { parseAliasName } from '../../core/aliases/name.ts'
import type { Client } from '../../core/clients/client.ts'
import { readCloudinaryUrl } from '../../core/compat/cloudinary.ts'
import type { CompatName, CompatUrl } from '../../core/compat/compat-url.ts'
import { readDefaultUploaderUrl } from '../../core/compat/default-uploader.ts'
import { type ImgproxyKeys, readImgproxyUrl } from '../../core/compat/imgproxy.ts'
import { readOpeninaryUrl } from '../../core/compat/openinary.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import { parseTarget } from '../../core/net/query.ts'
import { parseRemoteUrl } from '../../core/net/remote-url.ts'
import { Problem } from '../../core/problem.ts'
import type { Aliases } from '../../service/aliases/aliases.ts'
import type { RemotePictures } from '../../service/remote/transform.ts'
import { admitCompatUrl } from '../caller/signed-url.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import { DELIVERED_PROBLEMS, FETCHED_PROBLEMS } from '../delivery/problems.ts'
import { remotePicture } from '../delivery/remote-picture.ts'
import { CONDITIONS, STORED_FILE } from '../delivery/responses.ts'
import { type StoredFile, type StoredFileServices, storedFiles } from '../delivery/stored-file.ts'
import { EXAMPLE } from '../documents/examples.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { queryPairs, wildcardPath } from '../request.ts'
import { stateOf } from '../request-state.ts'

/** The other services whose URLs are delivered, with the secrets that verify their signatures. */
export interface CompatOptions {
  services: readonly string[]
  cloudinarySecret?: string | undefined
  imgproxyKeys?: ImgproxyKeys | undefined
  openinarySecret?: string | undefined
}

/** The services that handle these requests. */
export interface Services extends StoredFileServices {
  compat: CompatOptions
  aliases: Pick<Aliases, 'target'>
  remotePictures: RemotePictures
}

/** Another service, and how its URLs are read. */
interface OtherService {
  word: string
  name: string
  /** A path of a URL, after its host and account. */
  example: string
  read(req: Request, compat: CompatOptions): CompatUrl
}

const SERVICES: readonly OtherService[] = [
  {
    word: 'cloudinary',
    name: 'Cloudinary',
    example: 'image/upload/c_fill,w_300,h_200/products/chair.jpg',
    read: (req, { cloudinarySecret }) => readCloudinaryUrl(segmentsOf(req), { secret: cloudinarySecret }),
  },
  {
    word: 'imgproxy',
    name: 'imgproxy',
    example: 'unsafe/rs:fill:300:200/plain/local:///products/chair.jpg',
    read: (req, { imgproxyKeys }) => readImgproxyUrl(rawPathOf(req), { keys: imgproxyKeys, now: Date.now() }),
  },
  {
    word: 'default-uploader',
    name: 'Default Uploader',
    example: 'v1/image/upload/their_token/products/chair.jpg',
    read: (req) => readDefaultUploaderUrl(segmentsOf(req), queryPairs(req)),
  },
  {
    word: 'openinary',
    name: 'openinary',
    example: 't/w_300,h_200/products/chair.jpg',
    read: (req, { openinarySecret }) => readOpeninaryUrl(segmentsOf(req), { secret: openinarySecret }),
  },
]

/**
 * A file by the URL of another service, without its host and account. The query is ignored, except for Default Uploader: the others
 * have no parameters in it, but some libraries append a word there.
 */
export const COMPAT: ReadonlyArray<ServedEndpoint<Services>> = SERVICES.map(
  ({ word, name, example, read }) => ({
    route: `GET /compat/${word}/:token/*path`,
    id: `get${name[0]?.toUpperCase()}${name.slice(1).replace(' ', '')}Url`,
    tag: 'Delivery',
    summary: `Deliver a file by a URL of ${name}`,
    description: `The path is that of ${name} after its host and account: \`${example}\`. The endpoint exists when \`COMPAT\` lists \`${word}\`.`,
    access: 'signature',
    parameters: CONDITIONS,
    responses: STORED_FILE,
    problems: [...DELIVERED_PROBLEMS, ...FETCHED_PROBLEMS, '400 no_equivalent', '404 alias_of_other_type'],
    examples: [
      {
        id: 'small',
        summary: 'The file of an alias',
        parameters: { token: EXAMPLE.token, path: example },
        status: 200,
      },
    ],
    first: corsPublicRead,

    handlerOf(services) {
      const { compat, clients } = services
      if (!compat.services.includes(word)) return undefined
      const send = sender(services)
      return async (req, res) => {
        const client = clients.ofToken(String(req.params.token))
        stateOf(req).clientId = client.id
        await send(req, res, { client, url: read(req, compat) })
      }
    },
  }),
)

function sender({ clients, aliases, ...services }: Services) {
  const sendStored = storedFiles({ clients, ...services })
  const sendPicture = remotePicture(services)
  return async (req: Request, res: Response, { client, url }: { client: Client; url: CompatUrl }) => {
    const { group, source, isSigned, until } = url
    const names = 'url' in source ? [] : source.names.map(({ name }) => name)
    admitCompatUrl(req, { client, clients, names, isSigned, until })
    const query = [...url.query]
    if ('url' in source) return sendPicture(req, res, { client, url: parseRemoteUrl(source.url), query })
    const { path, format, alias } = await findFile(source.names, { client, group, aliases })
    await sendStored(req, res, {
      client,
      group,
      query: format === undefined ? query : [...query, ['f', format] as const],
      findPath: async () => path,
      ...(alias ? { alias } : {}),
    })
  }
}

/** A file of ours that the URL of another service names. */
interface FoundFile {
  path: string
  /** The format that the URL requests. */
  format?: string
  /** Absent for a file that is found by its own path. */
  alias?: NonNullable<StoredFile['alias']>
}

/**
 * Finds the file by the alias of one of its names, as an import creates them; else by the first name as a path of ours.
 *
 * @throws Problem 404 for an alias of a file of another type, 503
 */
async function findFile(
  names: readonly CompatName[],
  { client, group, aliases }: { client: Client; group: MediaGroup; aliases: Pick<Aliases, 'target'> },
): Promise<FoundFile> {
  for (const { name: path, ...format } of names) {
    try {
      const name = parseAliasName(path, 'path')
      const { key, setAt } = await aliases.target({ client, name, group })
      return { path: key, alias: { name, setAt }, ...format }
    } catch (error) {
      if (!(error instanceof Problem) || !['alias_not_found', 'bad_path'].includes(error.code)) throw error
    }
  }
  return { path: names[0]?.name ?? '' }
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
