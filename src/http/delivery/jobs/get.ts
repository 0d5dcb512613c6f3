import type { Request, Response } from 'express'
import type { Clients } from '../../../service/clients/clients.ts'
import type { MediaJob, MediaJobs } from '../../../service/delivery/media-job.ts'
import { callerByToken } from '../../caller/caller.ts'
import { clientIp } from '../../caller/client-ip.ts'
import { isFileWithin } from '../../caller/signed-cookie.ts'
import { signedLike } from '../../caller/signed-url.ts'
import { EXAMPLE } from '../../documents/examples.ts'
import type { ServedEndpoint } from '../../endpoint/endpoint.ts'
import { clientGone } from '../../request.ts'
import { mediaJob, type WireJob } from '../../wire/media-job.ts'
import { derivativeUrl } from '../../wire/urls.ts'
import { corsPublicRead } from '../cors.ts'
import { SIGNATURE } from '../parameters.ts'
import { FILE_PROBLEMS, SIGNATURE_PROBLEMS } from '../problems.ts'
import { createFollowerPlaces, createSharedLooks, type FollowerLimits } from './followers.ts'

/** The services that handle these requests. */
export interface Services {
  clients: Clients
  media: MediaJobs
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** Default: 2000, and 100 from one address. */
  followers?: FollowerLimits
  lookEveryMs?: number
}

const EVENT_STREAM = 'text/event-stream'
const LOOK_EVERY_MS = 500
// Proxies close idle connections, usually after 60 s.
const HEARTBEAT_MS = 15_000
// A browser reconnects by itself, to any process.
const FOLLOW_MS = 300_000

/**
 * The state of a media job, as JSON; as server-sent events until it ends, for clients that accept `text/event-stream`. The key in the
 * path permits the same as for the file itself.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export const getJob: ServedEndpoint<Services> = {
  route: 'GET /v1/jobs/:token/*path',
  id: 'getJob',
  tag: 'Delivery',
  summary: 'Get the state of a media job',
  description: 'Clients that accept `text/event-stream` get an event for each change.',
  access: 'signature or cookie',
  parameters: SIGNATURE,
  responses: {
    200: {
      description: 'The state of the job.',
      content: {
        'application/json': { schema: mediaJob },
        'text/event-stream': { json: { type: 'string' } },
      },
      headers: ['Cache-Control', 'Vary'],
    },
  },
  examples: [
    {
      id: 'state',
      summary: 'The job of a smaller video',
      parameters: { token: EXAMPLE.token, path: EXAMPLE.derivativeKey },
      status: 200,
    },
  ],
  problems: [...SIGNATURE_PROBLEMS, '400 bad_parameter', ...FILE_PROBLEMS, '429 too_many_followers'],
  first: corsPublicRead,

  handlerOf({ clients, media, baseUrl, followers, lookEveryMs = LOOK_EVERY_MS }) {
    const nextLook = createSharedLooks<MediaJob>({ everyMs: lookEveryMs })
    const takePlace = createFollowerPlaces(followers)
    return async (req, res) => {
      const { client, path } = callerByToken(req, clients, isFileWithin)
      const look = () => media.look(client, path)
      const first = await look()
      const signed = (url: string) => signedLike(req, url, client, clients)
      const toWire = (found: MediaJob) => jobToWire(found, { baseUrl, token: client.token, signed })
      res.setHeader('Cache-Control', 'no-store')
      res.vary('Accept')
      if (req.method === 'HEAD' || !wantsEvents(req)) return void res.json(toWire(first))
      const leavePlace = takePlace(clientIp(req))
      const name = `${client.id} ${first.key}`
      await follow(res, { first, next: () => nextLook(name, look), toWire }).finally(leavePlace)
    }
  },
}

interface Followed {
  first: MediaJob
  /** Reads the job again, after an interval. */
  next: () => Promise<MediaJob>
  toWire: (found: MediaJob) => object
}

/** Writes an event for each change. Ends when the job has ended, after the time limit, or when the client disconnects. */
async function follow(res: Response, { first, next, toWire }: Followed): Promise<void> {
  const signal = clientGone(res)
  const until = performance.now() + FOLLOW_MS
  res.setHeader('Content-Type', EVENT_STREAM)
  // nginx would buffer the events.
  res.setHeader('X-Accel-Buffering', 'no')
  let lastSent = ''
  let writtenAt = performance.now()
  const write = (text: string) => {
    writtenAt = performance.now()
    res.write(text)
  }
  for (let now = first; !signal.aborted; now = await next()) {
    const text = JSON.stringify(toWire(now))
    if (text !== lastSent) write(`event: ${now.status.state}\ndata: ${text}\n\n`)
    lastSent = text
    const hasEnded = ['done', 'failed'].includes(now.status.state)
    if (hasEnded || performance.now() > until) break
    if (performance.now() - writtenAt > HEARTBEAT_MS) write(': still there\n\n')
  }
  res.end()
}

function wantsEvents(req: Request): boolean {
  return req.accepts(['application/json', EVENT_STREAM]) === EVENT_STREAM
}

/** A job as JSON. It has `url` when that can be played or downloaded, and `error` after a failure. */
function jobToWire(
  { key, original, status, isPlayable }: MediaJob,
  { baseUrl, token, signed }: { baseUrl: string; token: string; signed: (url: string) => string },
): WireJob {
  const { state, progress } = status
  const { group } = original.format
  return {
    state,
    progress,
    ...(isPlayable ? { url: signed(derivativeUrl(key, { baseUrl, token, group })) } : {}),
    ...(status.state === 'failed' ? { error: status.failure } : {}),
  }
}
