import { defineUploader } from './uploader/element/define.ts'
import type { SluiceUploaderElement, SluiceUploaderEvents } from './uploader/element/element.ts'

export type { FileRecord } from './generated/api.ts'
export { type ErrorCode, SluiceError } from './http/problem.ts'
export type { UploadLink } from './upload/link.ts'
export { SluiceUploaderElement, type SluiceUploaderEvents } from './uploader/element/element.ts'
export { TEXTS, type Texts } from './uploader/element/texts.ts'
export { browserMemory } from './uploader/queue/browser-memory.ts'
export type { FolderFile, QueueState, UploadItem, UploadStatus } from './uploader/queue/item.ts'
export type { StoredUpload, UploadMemory } from './uploader/queue/memory.ts'
export type { QueuedLinkFile, QueueOptions } from './uploader/queue/options.ts'
export { createUploadQueue, type UploadQueue } from './uploader/queue/queue.ts'

declare global {
  interface HTMLElementTagNameMap {
    'sluice-uploader': SluiceUploaderElement
  }
  interface HTMLElementEventMap extends SluiceUploaderEvents {}
}

defineUploader()
