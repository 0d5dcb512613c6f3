import { checkBodyType, jsonBody } from '../../body/json.ts'
import { checkedBody } from '../../body/parse.ts'
import { callerBySecret } from '../../caller/caller.ts'
import { clientIp } from '../../caller/client-ip.ts'
import { consumeRateLimit } from '../../caller/rate-limit.ts'
import { SECRET_PROBLEMS } from '../../endpoint/access.ts'
import { JSON_PROBLEMS, json, type ServedEndpoint } from '../../endpoint/endpoint.ts'
import { sendReply } from '../../endpoint/reply.ts'
import { stateOf } from '../../request-state.ts'
import { bearerOf } from '../../tus/exchange.ts'
import { LINK_PROBLEMS } from '../described.ts'
import {
  abortDirectUpload,
  completeDirectUpload,
  cors,
  type DirectServices,
  EXAMPLE_UPLOAD,
  getDirectUpload,
  PATH,
} from './existing.ts'
import { checkedDirectUpload, directUpload, directUploadToWire, newDirectUpload } from './wire.ts'

// Tags and metadata have 21 KB, with each character escaped.
const BODY_MAX_BYTES = 128 * 1024

const beginDirectUpload: ServedEndpoint<DirectServices> = {
  route: `POST ${PATH}`,
  id: 'beginDirectUpload',
  // A file may be called `direct`.
  passesOn: true,
  tag: 'Uploads',
  summary: 'Begin an upload straight into the bucket',
  description:
    'Returns signed requests with which the client sends the file to S3 itself. Installations that store files on a disk refuse it.',
  access: { secret: 'upload' },
  body: { 'application/json': { schema: newDirectUpload } },
  responses: {
    201: json(directUpload, 'The upload has begun.', ['RateLimit', 'RateLimit-Policy']),
  },
  examples: [
    {
      id: 'photo',
      summary: 'A file of 11 bytes',
      body: { name: 'hello.txt', size: 11, folder: 'texts' },
      status: 201,
      response: EXAMPLE_UPLOAD,
    },
  ],
  problems: [
    ...SECRET_PROBLEMS,
    ...JSON_PROBLEMS,
    ...LINK_PROBLEMS,
    '400 bad_path',
    '403 direct_uploads_off',
    '413 too_large',
    '415 type_not_allowed',
    '429 rate_limited',
  ],
  first: cors,

  handlerOf: (services) => async (req, res) => {
    const { directUploads, limits, signedLinks, minBytesPerSecond, baseUrl } = services
    const mayHaveLink = req.headers.authorization === undefined && !stateOf(req).console
    const owner = mayHaveLink ? undefined : callerBySecret(req, services.clients, 'upload')
    checkBodyType(req, ['application/json'])
    const payer = owner ? `client ${owner.client.id}` : `address ${clientIp(req)}`
    const body = await jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond, payer })
    const upload = checkedDirectUpload(checkedBody(newDirectUpload, body))
    const { link } = upload
    const grant =
      owner && link === undefined ? owner : bearerOf(req, link === undefined ? {} : { link }, services)
    // A program that only tries it does not take a point of the file that it then sends to the service.
    directUploads.checkOffered(grant.client, upload)
    if (link !== undefined) await signedLinks.check(signedLinks.read(link))
    await consumeRateLimit(req, res, { limits, limited: 'upload', client: grant.client })
    const begun = await directUploads.begin(grant, upload)
    const url = `${baseUrl}${PATH}/${begun.id}${link === undefined ? '' : `~${grant.client.id}`}`
    sendReply(res, { status: 201, json: directUploadToWire(begun, url) })
  },
}

/** Uploads whose bytes pass from the client to the bucket. */
export const DIRECT_UPLOADS = [beginDirectUpload, getDirectUpload, completeDirectUpload, abortDirectUpload]
