import type { LinkFile, UploadLink } from '../../upload/link.ts'
import type { TransferOptions } from '../../upload/options.ts'
import type { UploadItem } from './item.ts'
import type { UploadMemory } from './memory.ts'
import type { UploadRules } from './rules.ts'

/** The file for which a queue requests a link. */
export interface QueuedLinkFile extends LinkFile {
  /** The folder within a dropped folder. Empty for a single file. Your server decides whether it is used. */
  folder: string
}

/** How a queue uploads. */
export interface QueueOptions
  extends UploadRules,
    Pick<TransferOptions, 'resumableFromBytes' | 'direct' | 'chunkBytes' | 'resume'> {
  /** A link, or a function that requests one from your server for each new upload. */
  link: UploadLink | ((file: QueuedLinkFile) => UploadLink | Promise<UploadLink>)
  /** Whether several files are accepted. False: a new file replaces the previous one. Default: true. */
  multiple?: boolean | undefined
  /** Number of files that are sent at the same time. Default: 3. */
  concurrency?: number | undefined
  /** Names unfinished uploads, for example with the id of a user. Default: one name for all. */
  resumeScope?: string | undefined
  /** Where unfinished uploads are stored, so that they continue after a reload of the page. Default: not at all. */
  memory?: UploadMemory | undefined
  /** Replaces the global fetch. Then progress is reported only after each chunk. */
  fetch?: typeof globalThis.fetch | undefined
  /** Called when a file is stored. */
  onUploaded?: ((item: UploadItem) => void) | undefined
  /** Called when a file is refused, or its upload fails. */
  onError?: ((item: UploadItem) => void) | undefined
}
