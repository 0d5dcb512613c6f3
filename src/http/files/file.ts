import type { Request } from 'express'
import { z } from 'zod'
import { candidatesInFolder, type Grant } from '../../core/clients/grant.ts'
import { type PathCandidates, parsePath } from '../../core/files/request-path.ts'
import type { IndexedFile, OriginalRecord } from '../../core/ports/file-index.ts'
import { Problem } from '../../core/problem.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { createSignSrc } from '../../service/clients/signed-src.ts'
import type { Annotate } from '../../service/files/annotate.ts'
import type { Describe, DescribedFile } from '../../service/files/describe.ts'
import { ifMatchHolds } from '../delivery/conditional.ts'
import { EXAMPLE, EXAMPLE_FILE } from '../documents/examples.ts'
import { header } from '../documents/parameters.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import type { Reply } from '../endpoint/reply.ts'
import { tagOf } from '../entity-tag.ts'
import { wildcardPath } from '../request.ts'
import type { Place } from '../wire/file.ts'
import { fileToWire } from '../wire/file-details.ts'
import { file } from '../wire/record.ts'
import { derivativeUrl } from '../wire/urls.ts'
import { fileChange, readFileChange } from './merge-patch.ts'

/** The services of endpoints that return files. */
export interface FileServices {
  clients: Clients
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

const derivative = z
  .object({
    key: z.string().describe('Key of the derivative.'),
    src: z.string().describe('Delivery URL of the derivative.'),
    mediaType: z.string().nullable().describe('Media type; null while the derivative is in progress.'),
    size: z.int().nullable().describe('Size in bytes; null while the derivative is in progress.'),
    state: z.enum(['pending', 'stored']).describe('`pending` while the derivative is rendered.'),
  })
  .describe('A derivative of a file.')
const fileWithDerivatives = replyOf('FileWithDerivatives', 'A stored file with its derivatives.', {
  ...file.shape,
  derivatives: z.array(derivative),
})

const DETAILS = { 200: json(fileWithDerivatives, 'The file with its derivatives.', ['ETag']) }
export const EXAMPLE_PATH = { path: EXAMPLE.key }

export const getFile = endpoint({
  route: 'GET /v1/files/*path',
  id: 'getFile',
  tag: 'Files',
  summary: 'Get one file with its derivatives',
  access: { secret: 'read' },
  responses: DETAILS,
  problems: ['400 bad_path', '404 file_not_found'],
  examples: [
    {
      id: 'photo',
      summary: 'A photo without derivatives',
      parameters: EXAMPLE_PATH,
      status: 200,
      response: { ...EXAMPLE_FILE, derivatives: [] },
    },
  ],

  async handle({ describe, ...services }: FileServices & { describe: Describe }, { req, caller }) {
    const found = await describe({ client: caller.client, path: pathIn(req, caller) })
    return fileReply(found, placeOf(caller, services))
  },
})

export const updateFile = endpoint({
  route: 'PATCH /v1/files/*path',
  id: 'updateFile',
  tag: 'Files',
  summary: 'Change the name, tags, metadata and focal point of a file',
  description: 'The body is a JSON merge patch (RFC 7396).',
  access: { secret: 'manage' },
  parameters: [header('If-Match', 'Changes the file only if this is its current `ETag`.')],
  body: fileChange,
  mediaTypes: ['application/merge-patch+json', 'application/json'],
  // Enough for the longest annotations of a file, with each character escaped.
  bodyMaxBytes: 256 * 1024,
  responses: DETAILS,
  problems: ['400 bad_path', '404 file_not_found', '412 precondition_failed', '503 storage_full'],
  audit: 'file.update',
  examples: [
    {
      id: 'annotate',
      summary: 'Set tags and metadata',
      parameters: EXAMPLE_PATH,
      mediaType: 'application/merge-patch+json',
      body: { tags: ['holiday'], metadata: { album: 'Lisbon' } },
      status: 200,
      response: { ...EXAMPLE_FILE, derivatives: [] },
    },
    {
      id: 'focalPoint',
      summary: 'Set the focal point of an image',
      parameters: EXAMPLE_PATH,
      mediaType: 'application/merge-patch+json',
      body: { focalPoint: { x: 0.3, y: 0.4 } },
      status: 200,
      response: { ...EXAMPLE_FILE, focalPoint: { x: 0.3, y: 0.4 }, derivatives: [] },
    },
  ],

  async handle(
    { describe, annotate, ...services }: FileServices & { describe: Describe; annotate: Annotate },
    { req, caller, body, signal },
  ) {
    const { client } = caller
    const path = pathIn(req, caller)
    const changed = readFileChange(body)
    const change = (record: OriginalRecord) => {
      if (!ifMatchHolds(req, etagOf(record))) throw otherVersion()
      return changed(record)
    }
    const { record } = await annotate({ client, path, change, signal })
    const found = await describe({ client, path })
    return fileReply({ ...found, record }, placeOf(caller, services))
  },
})

/** The file that the path of a request names. For a secret with a folder, files outside of it do not exist. @throws Problem 400 */
export function pathIn(req: Request, grant: Grant): PathCandidates {
  return candidatesInFolder(parsePath(wildcardPath(req)), grant)
}

/** Whose URLs the files of a response have, signed as the secret permits. */
export function placeOf(grant: Grant, { clients, baseUrl }: FileServices): Place {
  return { client: grant.client, baseUrl, sign: createSignSrc(clients.urlKeys, grant) }
}

function fileReply(found: DescribedFile, place: Place): Reply {
  const body: z.input<typeof fileWithDerivatives> = {
    ...fileToWire(found, place),
    derivatives: found.derivatives.map((one) => derivativeToWire(one, found, place)),
  }
  return { json: body, headers: { ETag: etagOf(found.record) } }
}

function derivativeToWire(
  { key, entry }: IndexedFile['derivatives'][number],
  { name }: DescribedFile,
  { client, baseUrl, sign }: Place,
): z.input<typeof derivative> {
  const { mediaType = null, size = null } = entry.state === 'stored' ? entry.record : {}
  const url = derivativeUrl(key, { baseUrl, token: client.token, group: name.format.group })
  const { src } = sign(url, key)
  return { key, src, mediaType, size, state: entry.state }
}

/** The ETag of the members that a PATCH may change. */
function etagOf({ originalName, tags = [], metadata = {}, focalPoint }: OriginalRecord): string {
  const members = [
    originalName,
    tags,
    Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1)),
    ...(focalPoint ? [[focalPoint.x, focalPoint.y]] : []),
  ]
  return `"${tagOf(JSON.stringify(members))}"`
}

/** 412: the file was changed since the ETag was issued. */
function otherVersion(): Problem {
  return new Problem({
    status: 412,
    code: 'precondition_failed',
    detail: 'The file was changed since it was read: If-Match is not its current ETag.',
  })
}
