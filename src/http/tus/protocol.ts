import { ERRORS, Server } from '@tus/server'
import { sha256 } from '../../core/bytes/digest.ts'
import { fileIdOf, newFileId } from '../../core/files/object-key.ts'
import type { Handover } from '../../core/ports/handover.ts'
import { Problem, tooLarge } from '../../core/problem.ts'
import { joinedUpload } from '../../service/upload/resumable/resumable-problems.ts'
import type { Bearer, Resumables, ResumableUpload } from '../../service/upload/resumable/resumables.ts'
import type { Concat } from './concat.ts'
import { type StatedUpload, tusStore } from './data-store.ts'
import { TUS_PATH } from './request.ts'

/** The dependencies and settings of resumable uploads. */
export interface TusOptions {
  resumables: Resumables
  handover: Handover
  /** Maximum size of a whole upload. */
  maxBytes: number
  expireMs: number
  /** Whether a client of the IETF's protocol gets the interim response 104 when its upload is created. */
  sends104: boolean
}

/** One tus request, after its first checks. */
export interface TusExchange extends StatedUpload {
  grant: Bearer
  /** The URL of a created upload. */
  addressOf: (id: string) => string
  method: string
  /** The ID of the upload. Undefined when the request creates one. */
  id: string | undefined
  /** The headers that concern tus, and no others. */
  headers: Record<string, string>
  body: ReadableStream<Uint8Array>
  /** Whether it creates a part of another upload, or an upload that joins others. */
  concat: Concat | undefined
  /** Waits until a complete upload is stored. @returns headers for the response */
  finished(id: string): Promise<Record<string, string>>
}

// HAND_OVER_MS is the time for a running request to end after another request for the same upload arrives. WAIT_MS is how
// long the other one waits: a phone that changes its network is back before its old connection is known to be dead.
const HAND_OVER_MS = 1000
const WAIT_MS = 8000

/**
 * Handles one request with `@tus/server`, which implements the protocol. The services store the upload.
 *
 * @throws Problem
 * @see https://tus.io/protocols/resumable-upload
 */
export async function exchangeTus(
  {
    grant,
    link,
    addressOf,
    method,
    id,
    headers,
    body,
    checksum,
    digests,
    concat,
    created,
    finished,
  }: TusExchange,
  { resumables, handover, expireMs }: Pick<TusOptions, 'resumables' | 'handover' | 'expireMs'>,
): Promise<Response> {
  let failure: unknown
  let maxBytes = 0
  const newId = typeof concat === 'object' ? joinedId(grant, concat) : newFileId()
  const parts =
    typeof concat === 'object'
      ? await resumables.partsOf(grant, { id: newId, parts: concat, link })
      : undefined
  let found: ResumableUpload | undefined
  const server = new Server({
    path: TUS_PATH,
    datastore: tusStore(grant, {
      resumables,
      expireMs,
      checksum,
      digests,
      link,
      created,
      isPartial: concat === 'partial',
      parts,
      found(upload) {
        found = upload
        if (method === 'PATCH' && upload.parts) throw joinedUpload()
      },
    }),
    async maxSize() {
      maxBytes = await resumables.maxBytesOf(grant, { id, link })
      return maxBytes
    },
    lockDrainTimeout: HAND_OVER_MS,
    locker: {
      newLock(name) {
        let release: (() => Promise<void>) | undefined
        return {
          async lock(signal, wanted) {
            const options = { wanted: () => void wanted(), waitMs: WAIT_MS, signal }
            release = await handover.take(`tus ${grant.client.id} ${name}`, options)
          },
          unlock: async () => release?.(),
        }
      },
    },
    namingFunction: () => newId,
    generateUrl: (_, { id: named }) => addressOf(named),
    getFileIdFromRequest: () => id,
    onUploadFinish: async (_, { id: complete }) =>
      concat === 'partial' || found?.isPartial ? {} : { headers: await finished(complete) },
    onResponseError(_, error) {
      failure = error
      return undefined
    },
  })
  /** The size that the client has declared, or else the limit of the service. */
  const limitOf = async () => {
    const known = id === undefined ? undefined : await resumables.find(grant, id).catch(() => undefined)
    const declared = known?.size ?? Number(headers['upload-length'] ?? Number.NaN)
    return declared <= maxBytes ? declared : maxBytes
  }
  const joinedSize = parts?.reduce((sum, { size }) => sum + size, 0)
  const hasBody = method === 'PATCH' || method === 'POST'
  const response = await server.handleWeb(
    new Request(`http://tus.invalid${TUS_PATH}/${id ?? ''}`, {
      method,
      headers: { ...headers, ...(parts ? { 'upload-length': String(joinedSize) } : {}) },
      ...(hasBody ? { body, duplex: 'half' } : {}),
    }),
  )
  if (failure !== undefined) throw problemOf(failure, await limitOf())
  if (response.status < 400) {
    if (parts)
      for (const [name, value] of Object.entries(await finished(newId))) response.headers.set(name, value)
    if (method === 'HEAD' && found?.isPartial) response.headers.set('Upload-Concat', 'partial')
    if (method === 'HEAD' && found?.parts)
      response.headers.set(
        'Upload-Concat',
        `final;${found.parts.map((part) => addressOf(part.id)).join(' ')}`,
      )
    return response
  }
  throw refusal(response.status, await response.text())
}

/** The ID of an upload that joins others. A repeated request, after a lost response, finds the upload of the first one. */
function joinedId({ client }: Bearer, parts: readonly string[]): string {
  return fileIdOf(Buffer.from(sha256([client.id, ...parts].join(' ')), 'hex'))
}

// Errors of the package, with our codes. All others concern headers: 400.
const REFUSALS = new Map<unknown, { status: number; code: string; detail: string }>([
  [
    ERRORS.INVALID_OFFSET,
    { status: 409, code: 'offset_conflict', detail: 'expected the offset that a HEAD request returns' },
  ],
  [ERRORS.FILE_NOT_FOUND, { status: 404, code: 'upload_not_found', detail: 'Upload not found or expired.' }],
  [ERRORS.FILE_NO_LONGER_EXISTS, { status: 410, code: 'upload_expired', detail: 'This upload has expired.' }],
  [
    ERRORS.ABORTED,
    {
      status: 423,
      code: 'handed_over',
      detail: 'Another request resumed this upload.',
    },
  ],
])

function problemOf(error: unknown, maxBytes: number): unknown {
  if (error instanceof Problem) return error
  const { status_code: status, body } = (error ?? {}) as { status_code?: number; body?: string }
  const known = REFUSALS.get(error)
  if (known) return new Problem(known)
  if (status === 413) return tooLarge('an upload', maxBytes)
  return status === undefined || (status >= 500 && status !== 501) ? error : refusal(status, body ?? '')
}

function refusal(status: number, text: string): Problem {
  const detail = text.trim() || 'expected a well-formed tus request'
  if (status === 501) return new Problem({ status, code: 'not_supported', detail })
  return new Problem({ status: status === 403 ? 400 : status, code: 'bad_request', detail })
}
