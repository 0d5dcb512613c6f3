export type { Audit, AuditListOptions } from './access/audit.ts'
export type { Clients } from './access/clients.ts'
export { type FolderCookie, type FolderCookieOptions, signFolderCookie } from './access/folder-cookie.ts'
export type { LinkOptions, Links } from './access/links.ts'
export type { Members } from './access/members.ts'
export type { Passkeys } from './access/passkeys.ts'
export type { Presets } from './access/presets.ts'
export type { Role, SessionClient, Sessions } from './access/session.ts'
export type { SignOptions, Urls } from './access/urls.ts'
export type { UsageOptions } from './access/usage.ts'
export type { DeliveryListOptions, Webhooks } from './access/webhooks.ts'
export { type ClientOptions, createClient, type SluiceClient } from './client.ts'
export { buildUrl, type DeliverySource } from './delivery/build-url.ts'
export type { JobListOptions, Jobs, JobWaitOptions } from './delivery/jobs.ts'
// A module can be augmented only through `export *`: the interface TransformParameters.
export * from './delivery/parameters.ts'
export { srcset } from './delivery/srcset.ts'
export { thumbHashToDataUrl } from './delivery/thumb-hash.ts'
export { type UrlBuilder, url } from './delivery/url.ts'
export { type Aliases, type AliasListOptions, type AliasPlace, aliasUrl } from './files/aliases.ts'
export type { FileReport, ManyOptions, Selection } from './files/batch.ts'
export type { CopyItem, MoveItem } from './files/copies.ts'
export type { Files } from './files/files.ts'
export type { FolderListOptions, Folders } from './files/folders.ts'
export type { ListOptions } from './files/list.ts'
export type { ZipEntry, ZipFile, ZipOptions } from './files/zip.ts'
export type {
  AdminSession,
  Alias,
  AuditEntries,
  AuditEntry,
  Client,
  ClientChange,
  ClientRules,
  ClientStorage,
  ClientUsageReport,
  ClientWithSecret,
  ClientWithUrlKey,
  CopyReport,
  DeletedDerivatives,
  DeletedFile,
  File as ListedFile,
  FileChange,
  FileInformation,
  FileList,
  FileRecord,
  FileWithDerivatives,
  Folder,
  FolderList,
  InvitedMember,
  JobList,
  LinkUse,
  ListedAlias,
  ListedJob,
  MediaJob,
  Member,
  MemberChange,
  MemberLink,
  MoveReport,
  NewClient,
  NewMember,
  NewMemberLink,
  NewPasskey,
  NewPreset,
  NewScopedSecret,
  NewSecret,
  NewSession,
  ParameterLists,
  Passkey,
  PasskeyCreation,
  PasskeyRequest,
  Preset,
  Problem,
  ProblemCode,
  RemovedClient,
  ScopedSecret,
  Session,
  SessionChange,
  StorageSettings,
  SystemReport,
  TestedStorage,
  UploadLink as SignedLink,
  UsageReport,
  UsedPasskey,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookDeliveryWithPayload,
  WebhookReceiverList,
  WebhookReplay,
  WebhookReplayReport,
  WebhookTest,
} from './generated/api.ts'
export { type ErrorCode, SluiceError } from './http/problem.ts'
export type { UploadProgress } from './http/progress.ts'
export type { CallOptions } from './http/request.ts'
export { type SessionAccess, sessionHeaders } from './http/session.ts'
export type { FileRef } from './records.ts'
export {
  createUploader,
  type Uploader,
  type UploaderOptions,
  type UploadLink,
  uploadToLink,
} from './upload/link.ts'
export type { TransferOptions, UploadOptions } from './upload/options.ts'
export type { ResumeStore } from './upload/resume-store.ts'
export type { ByteStream, LocalFile, RemoteFile, UploadSource } from './upload/source.ts'
export { verifyWebhook, type WebhookEvent, type WebhookRequest } from './webhooks.ts'
