import type { Request, Response } from 'express'
import type { Caller } from '../../core/clients/caller.ts'
import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import { dispositionName } from '../../core/files/disposition-name.ts'
import type { Format } from '../../core/media/formats.ts'
import { headerText } from '../../core/text/header-text.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { createSignSrc, unsignedSrc } from '../../service/clients/signed-src.ts'
import type { EagerTransform, EagerTransforms } from '../../service/delivery/eager-transforms.ts'
import type { FileInfos } from '../../service/delivery/file-info.ts'
import type { UploadedFile, UploadRequest } from '../../service/upload/upload-request.ts'
import { noteStored } from '../console/audited-by.ts'
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
  store: (arriving: Arriving) => Promise<UploadedFile[]>
}

/** Stores the files of a request, and responds with their records. The form may request file information and derivatives. */
export type Receive = (req: Request, res: Response, options: ReceiveOptions) => Promise<void>

export function createReception({
  eager,
  respondStored,
  minBytesPerSecond,
}: {
  eager: Pick<EagerTransforms, 'check'>
  respondStored: RespondStored
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}): Receive {
  return async (req, res, { grant, caller, as, name = '', maxFiles, refuseField, store }) => {
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
    const stored = await store({ files, lateFolder, check, annotations, signal })
    noteStored(req, stored)
    await respondStored(res, { grant, caller, stored, requested: fields.requested(), signal })
  }
}

/** Responds with the records of stored files, and with the requested options. */
export type RespondStored = (res: Response, options: StoredUploads) => Promise<void>

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
  return async (res, { grant, caller, stored, requested, signal }) => {
    const { client } = grant
    const { info, transforms } = requested
    const begun: EagerTransform[][] = []
    if (transforms) for (const file of stored) begun.push(await eager.begin(client, file, transforms))
    const known = info ? await informations.ofStored(client, stored, { caller, signal }) : []
    // The holder of an upload link may not read the files of the client.
    const sign = caller.isTrusted ? createSignSrc(clients.urlKeys, grant) : unsignedSrc
    const place = { client, baseUrl, sign }
    res.setHeader('Cache-Control', 'no-store')
    res.json(
      stored.map((file, i) =>
        uploadToWire(file, {
          ...place,
          options: optionsToWire(file, { ...place, info: known[i], transforms: begun[i] }),
        }),
      ),
    )
  }
}
