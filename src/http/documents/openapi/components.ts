import type { z } from 'zod'
import { zipRequest } from '../../archive/request.ts'
import { signRequest } from '../../signing/upload-link-routes.ts'
import { signUrlRequest } from '../../signing/url-routes.ts'
import { remoteUpload } from '../../upload/url-upload.ts'
import { foreignList, foreignObject } from '../../wire/foreign.ts'
import { fileInformation } from '../../wire/information.ts'
import {
  archiveLink,
  mediaJob,
  signedUrl,
  signedUrls,
  uploadLink,
  uploadProgress,
  urlSignatures,
} from '../../wire/links.ts'
import { file, fileRecord, fileRecords } from '../../wire/record.ts'
import {
  deliveryParameter,
  health,
  parameterLists,
  problem,
  readiness,
  systemReport,
} from '../../wire/system.ts'

/** The schemas of request bodies, by their names in the API document. */
export const REQUESTS: Readonly<Record<string, z.ZodType>> = {
  RemoteUpload: remoteUpload,
  ZipRequest: zipRequest,
  UploadLinkRequest: signRequest,
  UrlSignRequest: signUrlRequest,
}

/** The schemas of responses, by their names in the API document. */
export const RESPONSES: Readonly<Record<string, z.ZodType>> = {
  FileRecord: fileRecord,
  FileRecords: fileRecords,
  File: file,
  ForeignObject: foreignObject,
  ForeignObjectList: foreignList,
  FileInformation: fileInformation,
  UploadProgress: uploadProgress,
  ArchiveLink: archiveLink,
  UploadLink: uploadLink,
  SignedUrl: signedUrl,
  SignedUrls: signedUrls,
  UrlSignatures: urlSignatures,
  MediaJob: mediaJob,
  DeliveryParameter: deliveryParameter,
  ParameterLists: parameterLists,
  Health: health,
  Readiness: readiness,
  SystemReport: systemReport,
  Problem: problem,
}
