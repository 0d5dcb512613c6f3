import type { RequestHandler } from 'express'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { SignedLinks } from '../../service/upload/links/upload-links.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import { preflight } from '../caller/preflight.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { FILE_BYTES } from '../documents/contents.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { header, query } from '../documents/parameters.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { sendReply } from '../endpoint/reply.ts'
import { stateOf } from '../request-state.ts'
import { CREATED_HEADERS, TUS_BYTES_PROBLEMS, TUS_PROBLEMS } from '../tus/described.ts'
import { resumableByLink, type TusServices } from '../tus/exchange.ts'
import { TUS_ALLOWED_HEADERS } from '../tus/headers.ts'
import { isResumable } from '../tus/ietf.ts'
import { FORM, FORM_PROBLEMS, LINK_PROBLEMS, RECORDS, STORED_PROBLEMS } from './described.ts'
import { refuseFieldInLink } from './link-fields.ts'
import type { Receive } from './receive.ts'

/** The services that handle these requests. */
export interface Services {
  signedLinks: SignedLinks
  limits: Limits
  receive: Receive
}

/** The query of a signed link. */
const LINK_QUERY = [
  query('expirationIn', 'Part of the link.', { type: 'integer', minimum: 1 }, { required: true }),
  query('name', 'Name of the file. It is not part of the link.'),
]

const LINK_PARAMETERS = {
  id: EXAMPLE.linkId,
  signature: EXAMPLE.linkSignature,
  folder: 'avatars',
  expirationIn: '3600',
}

/** Stores the file of a request to a link, as a form or as the body, and responds with its record. */
function storeByLink({ signedLinks, limits, receive }: Services): RequestHandler {
  return async (req, res) => {
    // The raw URL: any change to a link makes it another one.
    const { target, name } = named(req.url)
    const opened = signedLinks.read(target)
    const { client } = opened
    stateOf(req).clientId = client.id
    // Before the rate limit: a used link must not consume points of its client.
    await signedLinks.check(opened)
    await consumeRateLimit(req, res, { limits, limited: 'upload', client })
    const reply = await receive(req, res, {
      grant: { client },
      caller: anonymousCallerOf(req),
      as: 'either',
      name,
      maxFiles: 1,
      refuseField: refuseFieldInLink,
      isRepeatable: false,
      store: (arriving) => signedLinks.upload(opened, arriving),
    })
    sendReply(res, reply)
  }
}

const PROBLEMS = [
  ...LINK_PROBLEMS,
  '400 bad_parameter',
  '404 client_not_found',
  '415 unsupported_media_type',
  ...STORED_PROBLEMS,
] as const

const answerPreflight = preflight({
  methods: 'PUT, POST',
  headers: TUS_ALLOWED_HEADERS,
  allow: 'PUT, POST, OPTIONS, DELETE',
})

const cors: RequestHandler = (req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*')
  res.setHeader('Access-Control-Expose-Headers', 'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id')
  answerPreflight(req, res, next)
}

/** The file is the body, or a form has it. Pages of any origin may use a link, since only the link authorizes. */
const uploadFileByLink: ServedEndpoint<Services> = {
  route: 'PUT /v1/upload/sign/:id/:signature/*folder',
  id: 'uploadFileByLink',
  tag: 'Uploads',
  summary: 'Upload one file by a signed link',
  description:
    'Only the link authorizes. Pages of any origin may use it. Append `&name=` to name the file. A form with one file is accepted as well.',
  access: 'link',
  parameters: [
    ...LINK_QUERY,
    header('Content-Disposition', 'Names the file: `attachment; filename="photo.jpg"`.'),
  ],
  body: { 'application/octet-stream': FILE_BYTES },
  responses: RECORDS,
  examples: [
    {
      id: 'photo',
      summary: 'A photo',
      parameters: LINK_PARAMETERS,
      body: 'photo.jpg',
      status: 200,
    },
  ],
  problems: PROBLEMS,
  first: cors,
  // The delete of an original in a folder of this name.
  alsoAllows: ['DELETE'],
  handlerOf: storeByLink,
}

/** The same as a form, or the creation of a resumable upload. */
const uploadFormByLink: ServedEndpoint<Services & TusServices> = {
  route: 'POST /v1/upload/sign/:id/:signature/*folder',
  id: 'uploadFormByLink',
  tag: 'Uploads',
  summary: 'Upload one file by a signed link, as a form',
  description:
    'The file itself is accepted as the body as well. With the header `Tus-Resumable` or `Upload-Complete`, it creates a resumable upload instead.',
  access: 'link',
  parameters: [
    ...LINK_QUERY,
    header('Tus-Resumable', '`1.0.0` for a resumable upload.'),
    header('Upload-Length', 'Size of the file in bytes, for a resumable upload.'),
    header('Upload-Metadata', 'Metadata of tus, for a resumable upload.'),
  ],
  body: { 'multipart/form-data': FORM },
  isBodyOptional: true,
  responses: {
    ...RECORDS,
    201: {
      description: 'The resumable upload was created.',
      headers: CREATED_HEADERS,
    },
  },
  examples: [
    {
      id: 'form',
      summary: 'A form with one file',
      parameters: LINK_PARAMETERS,
      body: { file: 'photo.jpg' },
      status: 200,
    },
  ],
  problems: [...PROBLEMS, ...FORM_PROBLEMS, ...TUS_PROBLEMS, ...TUS_BYTES_PROBLEMS],

  handlerOf(services) {
    const store = storeByLink(services)
    const createResumable = resumableByLink(services)
    return (req, res, next) => (isResumable(req) ? createResumable(req, res, next) : store(req, res, next))
  },
}

/** Uploads by a signed link. */
export const LINKED_UPLOADS = [uploadFileByLink, uploadFormByLink]

/**
 * Separates a link from the name that its holder has appended. The
 * name is not signed: it has no more effect than the name in a form.
 */
function named(url: string): { target: string; name: string } {
  const added = url.indexOf('&name=')
  if (added === -1 || url.indexOf('&', added + 1) !== -1) return { target: url, name: '' }
  const name = new URLSearchParams(url.slice(added)).get('name') ?? ''
  return { target: url.slice(0, added), name }
}
