import type { z } from 'zod'
import { zipRequest } from '../../archive/request.ts'
import { deletion, restoration } from '../../files/batch-request.ts'
import { fileChange } from '../../files/merge-patch.ts'
import { copying, moving } from '../../moves/request.ts'
import { signRequest } from '../../signing/upload-link-routes.ts'
import { signUrlRequest } from '../../signing/url-routes.ts'
import { remoteUpload } from '../../upload/url-upload.ts'
import { copyReport, moveReport } from '../../wire/copies.ts'
import { folder, folderList } from '../../wire/folders.ts'
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
import * as outcomes from '../../wire/outcomes.ts'
import { file, fileList, fileRecord, fileRecords, fileWithDerivatives } from '../../wire/record.ts'
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
  FileChange: fileChange,
  BatchDeletion: deletion,
  BatchRestoration: restoration,
  BatchCopy: copying,
  BatchMove: moving,
  ZipRequest: zipRequest,
  UploadLinkRequest: signRequest,
  UrlSignRequest: signUrlRequest,
}

/** The schemas of responses, by their names in the API document. */
export const RESPONSES: Readonly<Record<string, z.ZodType>> = {
  FileRecord: fileRecord,
  FileRecords: fileRecords,
  File: file,
  FileList: fileList,
  FileWithDerivatives: fileWithDerivatives,
  Folder: folder,
  FolderList: folderList,
  ForeignObject: foreignObject,
  ForeignObjectList: foreignList,
  FileInformation: fileInformation,
  UploadProgress: uploadProgress,
  DeletedFile: outcomes.deletedFile,
  DeletedDerivatives: outcomes.deletedDerivatives,
  DeletionReport: outcomes.deletionReport,
  RestorationReport: outcomes.restorationReport,
  CopyReport: copyReport,
  MoveReport: moveReport,
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
