import { Router } from 'express'
import { z } from 'zod'
import type { Client } from '../core/client.ts'
import type { Limits } from '../core/ports/rate-limiter.ts'
import { badParameter } from '../core/problem.ts'
import { folderWithin, type Grant } from '../core/scope.ts'
import type { Clients } from '../service/clients.ts'
import type { LinkRequest, SignedLinks } from '../service/signed-links.ts'
import { bodyRefusal } from './body-refusal.ts'
import { boundedArray } from './bounded.ts'
import { callerBySecret } from './caller.ts'
import { jsonBody } from './json-body.ts'
import { methodNotAllowed } from './problem.ts'
import { takePoints } from './rate-limit.ts'
import { onlyValue, queryPairs, wildcardPath } from './request.ts'

interface Dependencies {
  clients: Clients
  signedLinks: SignedLinks
  limits: Limits
  /** Without a slash at its end. */
  baseUrl: string
  /** Of a body, see {@link watchRate}. */
  minBytesPerSecond: number
}

const BODY_MAX_BYTES = 64 * 1024
const EXPIRATION = 'expirationIn'
const TYPES_MAX = 50

const signRequest = z.strictObject(
  {
    folder: z.string('a string').optional(),
    expiresIn: z.number('a whole number of seconds from 1 to 604800'),
    maxBytes: z.number('a whole number of bytes from 1').optional(),
    types: boundedArray(z.string('a media type'), {
      ...{ min: 1, max: TYPES_MAX, expected: `an array of 1 to ${TYPES_MAX} media types` },
    }).optional(),
    uses: z.number('a whole number of uses from 1 to 100').optional(),
  },
  'an object of folder, expiresIn, maxBytes, types and uses',
)

/**
 * `POST /v1/sign` and `GET /v1/sign/<folder>?expirationIn=<seconds>`: a link by which one file can be uploaded without a
 * secret. `_` stands for no folder.
 */
export function signRoutes({
  clients,
  signedLinks,
  limits,
  baseUrl,
  minBytesPerSecond,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const sign = (client: Client, grant: Grant, request: LinkRequest) => {
    const folder = folderWithin(request.folder, grant)
    const { url, expiresAt } = signedLinks.sign(client, { ...request, folder, until: grant.until }, baseUrl)
    return { url, method: 'PUT', expiresAt: new Date(expiresAt).toISOString() }
  }

  routes.post('/v1/sign', async (req, res) => {
    const grant = callerBySecret(req, clients, 'upload')
    const body = await jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })
    const read = signRequest.safeParse(body)
    if (!read.success) throw bodyRefusal(read.error, body)
    const { expiresIn, folder, ...link } = read.data
    const answer = sign(grant.client, grant, { ...link, folder, expiresInSeconds: expiresIn })
    await takePoints(req, res, { limits, limited: 'sign', client: grant.client })
    res.setHeader('Cache-Control', 'no-store')
    res.json(answer)
  })
  routes.all('/v1/sign', methodNotAllowed('POST'))

  routes.get('/v1/sign/*path', async (req, res) => {
    const grant = callerBySecret(req, clients, 'upload')
    const path = wildcardPath(req)
    const answer = sign(grant.client, grant, {
      folder: path === '_' ? undefined : path,
      expiresInSeconds: expirationOf(queryPairs(req)),
    })
    await takePoints(req, res, { limits, limited: 'sign', client: grant.client })
    res.setHeader('Cache-Control', 'no-store')
    res.json(answer)
  })
  routes.all('/v1/sign/*path', methodNotAllowed('GET', 'HEAD'))
  return routes
}

function expirationOf(query: ReadonlyArray<readonly [string, string]>): number {
  for (const [name, value] of query)
    if (name !== EXPIRATION)
      throw badParameter({
        param: name,
        expected: `only ${EXPIRATION} in the query, and nothing`,
        received: value,
      })
  const received = onlyValue(query, EXPIRATION)
  if (received !== undefined && /^\d{1,6}$/.test(received)) return Number(received)
  throw badParameter({
    ...{ param: EXPIRATION, expected: 'a whole number of seconds from 1 to 604800' },
    ...(received === undefined ? {} : { received }),
  })
}
