import type { Request } from 'express'
import { sha256 } from '../../core/bytes/digest.ts'
import type { Grant } from '../../core/clients/grant.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import type { RepeatedRequests } from '../../service/clients/repeated-requests.ts'
import type { ProblemName } from '../documents/endpoint.ts'
import { stateOf } from '../request-state.ts'
import type { Reply } from './reply.ts'

/** The problems of an endpoint that is executed once for each `Idempotency-Key`. */
export const REPEATED: readonly ProblemName[] = ['409 request_conflict', '422 other_request']

const KEY_MAX_LENGTH = 255

/**
 * Executes a request, unless one with its `Idempotency-Key` was executed: then the response is the former one. Without a key, it is
 * executed.
 *
 * @param options.same the content of this request when it is not executed, which must be that of the former one
 * @param options.execute returns the response, and the content of the request
 * @throws Problem 400 for an invalid key, 409 while the former request is executed, 422 for another content
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpbis-idempotency-key-header/
 */
export async function answerOnce(
  req: Request,
  {
    repeatedRequests,
    grant,
    same,
    execute,
  }: {
    repeatedRequests: RepeatedRequests
    grant: Grant
    same: () => Promise<unknown>
    execute: () => Promise<{ reply: Reply; content: unknown }>
  },
): Promise<Reply> {
  const key = keyOf(req)
  if (key === undefined) return (await execute()).reply
  const fingerprintOf = (content: unknown) => sha256(JSON.stringify([req.method, req.originalUrl, content]))
  const begun = await repeatedRequests.begin(grant, key)
  if ('answer' in begun) {
    const { fingerprint, status, json } = begun.answer
    if (fingerprintOf(await same()) !== fingerprint) throw otherRequest()
    // The audit log has the former request.
    const { endpoint } = stateOf(req)
    if (endpoint) stateOf(req).endpoint = { ...endpoint, audit: undefined }
    return { status, json }
  }
  try {
    const { reply, content } = await execute()
    const { status = 200, json } = reply
    await begun.finish({ fingerprint: fingerprintOf(content), status, json })
    return reply
  } catch (error) {
    await begun.release()
    throw error
  }
}

/** The draft has a string in quotes; most clients send a token without them. @throws Problem 400 */
function keyOf(req: Request): string | undefined {
  const header = req.get('Idempotency-Key')
  if (header === undefined) return undefined
  const key = /^"([^"\\]*)"$/.exec(header)?.[1] ?? header
  if (/^[\x20-\x7e]+$/.test(key) && key.length <= KEY_MAX_LENGTH) return key
  throw badParameter({
    param: 'Idempotency-Key',
    expected: `1 to ${KEY_MAX_LENGTH} printable ASCII characters`,
    received: header,
  })
}

function otherRequest(): Problem {
  return new Problem({
    status: 422,
    code: 'other_request',
    detail:
      'Another request had this Idempotency-Key, with another body or URL. Choose a new key for each request.',
  })
}
