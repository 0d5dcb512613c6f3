import type { z } from 'zod'
import { remoteUpload } from '../../upload/url-upload.ts'
import { foreignList, foreignObject } from '../../wire/foreign.ts'
import { fileInformation } from '../../wire/information.ts'
import { mediaJob, uploadProgress } from '../../wire/links.ts'
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
  MediaJob: mediaJob,
  DeliveryParameter: deliveryParameter,
  ParameterLists: parameterLists,
  Health: health,
  Readiness: readiness,
  SystemReport: systemReport,
  Problem: problem,
}
