import type { Request, Response } from 'express'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import type { Grant } from '../../core/clients/grant.ts'
import { dispositionName } from '../../core/files/disposition-name.ts'
import type { Format } from '../../core/media/formats.ts'
import { headerText } from '../../core/text/header-text.ts'
import type { EagerTransform, EagerTransforms } from '../../service/delivery/eager-transforms.ts'
import type { FileInfos } from '../../service/delivery/file-info.ts'
import type { UploadedFile, UploadRequest } from '../../service/upload/upload-request.ts'
import { clientGone, isOfType } from '../request.ts'
import { optionsToWire, uploadToWire } from '../wire/file.ts'
import { type AskedOfUpload, type UploadFields, uploadFields } from './form-fields.ts'
import { type FilePart, fileParts } from './multipart.ts'
import { rawFile } from './raw-body.ts'

/** What a request brings, for whoever stores it. */
export type Arriving = Required<Pick<UploadRequest, 'files' | 'check' | 'annotations' | 'signal'>>

export interface ReceiveOptions {
  grant: Grant
  caller: Caller
  /** As what its body is taken: a form, a file as it is, or what its `Content-Type` says. */
  as: 'form' | 'file' | 'either'
  /** The name of a file that is the whole body. Empty: that of `Content-Disposition`, if there is one. */
  name?: string
  /** In a form. */
  maxFiles: number
  /** Looks at each field of a form first: throws for one that may not stand there. */
  refuseField?: UploadFields['take']
  store: (arriving: Arriving) => Promise<UploadedFile[]>
}

/** Has the files of a request stored, and answers their records: as a form asks for them, with what is known or made of them. */
export type Receive = (req: Request, res: Response, options: ReceiveOptions) => Promise<void>

export function createReception({
  eager,
  answerStored,
  minBytesPerSecond,
}: {
  eager: Pick<EagerTransforms, 'check'>
  answerStored: StoredAnswer
  /** Of a body, see {@link watchRate}. */
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
    const check = (format: Format) => eager.check(grant, format, fields.asked().transforms ?? [])
    const annotations = () => fields.asked().annotations
    const stored = await store({ files, check, annotations, signal })
    await answerStored(res, { client: grant.client, caller, stored, asked: fields.asked(), signal })
  }
}

/** Answers with the records of what has been stored, and with what was asked for of them. */
export type StoredAnswer = (res: Response, options: StoredAnswerOptions) => Promise<void>

export interface StoredAnswerOptions {
  client: Client
  caller: Caller
  stored: readonly UploadedFile[]
  asked: AskedOfUpload
  signal: AbortSignal
}

export function createStoredAnswer({
  informations,
  eager,
  baseUrl,
}: {
  informations: FileInfos
  eager: EagerTransforms
  /** Without a slash at its end. */
  baseUrl: string
}): StoredAnswer {
  return async (res, { client, caller, stored, asked, signal }) => {
    const { info, transforms } = asked
    const begun: EagerTransform[][] = []
    if (transforms) for (const { name } of stored) begun.push(await eager.begin(client, name, transforms))
    const known = info ? await informations.ofStored(client, stored, { caller, signal }) : []
    const place = { client, baseUrl }
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
