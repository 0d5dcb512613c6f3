import type { z } from 'zod'
import { changes, newClient, newSecret, rotation, storage } from '../../admin/client-request.ts'
import { signIn } from '../../admin/sign-in.ts'
import { aliasRollback, aliasTarget } from '../../aliases/request.ts'
import { zipRequest } from '../../archive/request.ts'
import * as console from '../../console/member-request.ts'
import { deletion, restoration } from '../../files/batch-request.ts'
import { fileChange } from '../../files/merge-patch.ts'
import { copying, moving } from '../../moves/request.ts'
import { signRequest } from '../../signing/upload-link-routes.ts'
import { signUrlRequest } from '../../signing/url-routes.ts'
import { newPreset } from '../../system/preset-request.ts'
import { remoteUpload } from '../../upload/url-upload.ts'
import { webhookReplay } from '../../webhooks/request.ts'
import { alias, aliasList, listedAlias } from '../../wire/aliases.ts'
import * as clients from '../../wire/clients.ts'
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
import * as members from '../../wire/members.ts'
import { auditEntries, auditEntry } from '../../wire/operator/audit.ts'
import { jobList, listedJob } from '../../wire/operator/jobs.ts'
import { clientUsageReport } from '../../wire/operator/usage.ts'
import * as outcomes from '../../wire/outcomes.ts'
import { preset, presetList } from '../../wire/presets.ts'
import { file, fileList, fileRecord, fileRecords, fileWithDerivatives } from '../../wire/record.ts'
import {
  deliveryParameter,
  health,
  parameterLists,
  problem,
  readiness,
  systemReport,
} from '../../wire/system.ts'
import * as webhooks from '../../wire/webhooks.ts'

/** The schemas of request bodies, by their names in the API document. */
export const REQUESTS: Readonly<Record<string, z.ZodType>> = {
  RemoteUpload: remoteUpload,
  FileChange: fileChange,
  AliasTarget: aliasTarget,
  AliasRollback: aliasRollback,
  NewPreset: newPreset,
  BatchDeletion: deletion,
  BatchRestoration: restoration,
  BatchCopy: copying,
  BatchMove: moving,
  ZipRequest: zipRequest,
  UploadLinkRequest: signRequest,
  UrlSignRequest: signUrlRequest,
  SignInRequest: signIn,
  NewClient: newClient,
  ClientChange: changes,
  StorageSettings: storage,
  NewSession: console.newSession,
  SessionChange: console.sessionChange,
  LinkToken: console.linkToken,
  LinkUse: console.linkUse,
  NewMember: console.newMember,
  MemberChange: console.memberChange,
  SecretRotation: rotation,
  NewSecret: newSecret,
  WebhookReplay: webhookReplay,
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
  Alias: alias,
  ListedAlias: listedAlias,
  AliasList: aliasList,
  Preset: preset,
  PresetList: presetList,
  FileInformation: fileInformation,
  UploadProgress: uploadProgress,
  DeletedFile: outcomes.deletedFile,
  DeletedDerivatives: outcomes.deletedDerivatives,
  DeletionReport: outcomes.deletionReport,
  RestorationReport: outcomes.restorationReport,
  CopyReport: copyReport,
  MoveReport: moveReport,
  UsageReport: outcomes.usageReport,
  ClientUsageReport: clientUsageReport,
  AuditEntry: auditEntry,
  AuditEntries: auditEntries,
  ArchiveLink: archiveLink,
  UploadLink: uploadLink,
  SignedUrl: signedUrl,
  SignedUrls: signedUrls,
  UrlSignatures: urlSignatures,
  MediaJob: mediaJob,
  ListedJob: listedJob,
  JobList: jobList,
  AdminSession: clients.adminSession,
  Client: clients.client,
  Clients: clients.clients,
  ClientRules: clients.clientRules,
  ClientStorage: clients.clientStorage,
  ClientWithSecret: clients.clientWithSecret,
  ClientWithUrlKey: clients.clientWithUrlKey,
  RemovedClient: clients.removedClient,
  TestedStorage: clients.testedStorage,
  ScopedSecret: clients.scopedSecret,
  NewScopedSecret: clients.newScopedSecret,
  Session: members.session,
  MemberLink: members.memberLink,
  Member: members.member,
  MemberList: members.memberList,
  InvitedMember: members.invitedMember,
  NewMemberLink: members.newMemberLink,
  WebhookTest: webhooks.webhookTest,
  WebhookReceiverList: webhooks.webhookReceiverList,
  DeliveryAttempt: webhooks.deliveryAttempt,
  WebhookDelivery: webhooks.webhookDelivery,
  WebhookDeliveryList: webhooks.webhookDeliveryList,
  WebhookDeliveryWithPayload: webhooks.webhookDeliveryWithPayload,
  WebhookReplayReport: webhooks.webhookReplayReport,
  DeliveryParameter: deliveryParameter,
  ParameterLists: parameterLists,
  Health: health,
  Readiness: readiness,
  SystemReport: systemReport,
  Problem: problem,
}
