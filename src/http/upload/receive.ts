import { createHash } from 'node:crypto'
import type { Request, Response } from 'express'
import type { Caller } from '../../core/clients/caller.ts'
import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import { dispositionName } from '../../core/files/disposition-name.ts'
import type { Format } from '../../core/media/formats.ts'
import { tooLarge } from '../../core/problem.ts'
import { headerText } from '../../core/text/header-text.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { RepeatedRequests } from '../../service/clients/repeated-requests.ts'
import { createSignSrc, unsignedSrc } from '../../service/clients/signed-src.ts'
import type { EagerTransform, EagerTransforms } from '../../service/delivery/eager-transforms.ts'
import type { FileInfos } from '../../service/delivery/file-info.ts'
import type { UploadedFile, UploadRequest } from '../../service/upload/upload-request.ts'
import { noteStored } from '../console/audited-by.ts'
import { answerOnce } from '../endpoint/repeats.ts'
import type { Reply } from '../endpoint/reply.ts'
import { clientGone, isOfType } from '../request.ts'
import { optionsToWire, uploadToWire } from '../wire/file.ts'
import { type UploadFields, type UploadOptions, uploadFields } from './form-fields.ts'
import { type FilePart, fileParts } from './multipart.ts'
import { rawFile } from './raw-body.ts'

/** The files and annotations of a request, for the service that stores them. */
export type Arriving = Required<
  Pick<UploadRequest, 'files' | 'lateFolder' | 'check' | 'annotations' | 'signal'>
>

/** Who uploads, and how the body of the request is read and stored. */
export interface ReceiveOptions {
  grant: Grant
  caller: Caller
  /** How the body is read: as a form, as a file, or by its `Content-Type`. */
  as: 'form' | 'file' | 'either'
  /** The name of a file that is the whole body. Empty: the name in `Content-Disposition`, if any. */
  name?: string
  /** Maximum number of files in a form. */
  maxFiles: number
  /** Called first for each field of a form. Throws for a field that is not allowed. */
  refuseField?: UploadFields['take']
  /** Whether it is executed once for each `Idempotency-Key`. */
  isRepeatable: boolean
  store: (arriving: Arriving) => Promise<UploadedFile[]>
}

/** Stores the files of a request, and returns their records for the response. The form may request file information and derivatives. */
export type Receive = (req: Request, res: Response, options: ReceiveOptions) => Promise<Reply>

export function createReception({
  eager,
  respondStored,
  minBytesPerSecond,
  maxBytes,
  repeatedRequests,
}: {
  eager: Pick<EagerTransforms, 'check'>
  respondStored: RespondStored
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
  /** Limit of each file. */
  maxBytes: number
  repeatedRequests: RepeatedRequests
}): Receive {
  return async (req, res, { grant, caller, as, name = '', maxFiles, refuseField, isRepeatable, store }) => {
    const signal = clientGone(res)
    const fields = uploadFields()
    const onField: UploadFields['take'] = (field, value) => {
      refuseField?.(field, value)
      fields.take(field, value)
    }
    const isForm = as === 'form' || (as === 'either' && isOfType(req, 'multipart/form-data'))
    const files: AsyncIterable<FilePart> = isForm
      ? fileParts(req, { maxFiles, minBytesPerSecond, onField, signal })
      : rawFile(req, {
          name: name || dispositionName(headerText(req.headers['content-disposition'] ?? '')),
          minBytesPerSecond,
          signal,
        })
    const check = (format: Format) => eager.check(grant, format, fields.requested().transforms ?? [])
    const annotations = () => fields.requested().annotations
    const lateFolder = () => {
      const { folder } = fields.requested()
      return folder === undefined ? undefined : folderWithin(folder, grant)
    }
    const execute = async () => {
      const names: string[] = []
      const stored = await store({ files: named(files, names), lateFolder, check, annotations, signal })
      noteStored(req, stored)
      const requested = fields.requested()
      const reply = await respondStored({ grant, caller, stored, requested, signal })
      return {
        reply,
        content: contentOf(
          names,
          stored.map(({ record }) => record.sha256),
          requested,
        ),
      }
    }
    if (!isRepeatable) return (await execute()).reply
    const same = async () => {
      const names: string[] = []
      const digests = await digestsOf(named(files, names), maxBytes)
      return contentOf(names, digests, fields.requested())
    }
    return answerOnce(req, { repeatedRequests, grant, same, execute })
  }
}

/** Returns the response: the records of stored files, with the requested options. */
export type RespondStored = (options: StoredUploads) => Promise<Reply>

/** The stored files, and the options that the request has set. */
export interface StoredUploads {
  grant: Pick<Grant, 'client' | 'until'>
  caller: Caller
  stored: readonly UploadedFile[]
  requested: Pick<UploadOptions, 'info' | 'transforms'>
  signal: AbortSignal
}

export function createUploadResponder({
  clients,
  informations,
  eager,
  baseUrl,
}: {
  clients: Pick<Clients, 'urlKeys'>
  informations: FileInfos
  eager: EagerTransforms
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}): RespondStored {
  return async ({ grant, caller, stored, requested, signal }) => {
    const { client } = grant
    const { info, transforms } = requested
    const begun: EagerTransform[][] = []
    if (transforms) for (const file of stored) begun.push(await eager.begin(client, file, transforms))
    const known = info ? await informations.ofStored(client, stored, { caller, signal }) : []
    // The holder of an upload link may not read the files of the client.
    const sign = caller.isTrusted ? createSignSrc(clients.urlKeys, grant) : unsignedSrc
    const place = { client, baseUrl, sign }
    return {
      json: stored.map((file, i) =>
        uploadToWire(file, {
          ...place,
          options: optionsToWire(file, { ...place, info: known[i], transforms: begun[i] }),
        }),
      ),
    }
  }
}

/** Passes files on, and adds their names to a list. */
async function* named(files: AsyncIterable<FilePart>, names: string[]): AsyncGenerator<FilePart> {
  for await (const file of files) {
    names.push(file.name)
    yield file
  }
}

/** Reads files to their ends. @returns the SHA-256 of each @throws Problem 413 for one that is too large */
async function digestsOf(files: AsyncIterable<FilePart>, maxBytes: number): Promise<string[]> {
  const digests: string[] = []
  for await (const { bytes } of files) {
    const hash = createHash('sha256')
    let size = 0
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge('a file', maxBytes)
      hash.update(chunk)
    }
    digests.push(hash.digest('hex'))
  }
  return digests
}

/** What a repeated upload has in common with the first one. */
function contentOf(names: readonly string[], digests: readonly string[], requested: UploadOptions): unknown {
  return { names, digests, requested }
}
