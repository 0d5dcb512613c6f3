import { parseAliasName } from '../../core/aliases/name.ts'
import { type Client, uploadMaxBytes } from '../../core/clients/client.ts'
import { type Annotations, checkMetadata, checkTags } from '../../core/files/annotations.ts'
import { type ObjectKey, type OriginalName, parseFolder, parseKey } from '../../core/files/object-key.ts'
import type { ImportItem } from '../../core/imports/source.ts'
import { sniff } from '../../core/media/sniff/sniff.ts'
import { parseRemoteUrl } from '../../core/net/remote-url.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { tooLarge } from '../../core/problem.ts'
import type { Aliases } from '../aliases/aliases.ts'
import type { RemoteUpload } from '../remote/upload.ts'
import { takeHead } from '../upload/incoming-bytes.ts'
import { checkType } from '../upload/rules/upload-rules.ts'
import type { Upload, UploadedFile } from '../upload/upload-request.ts'
import { type ImportNotes, noteDigest } from './notes.ts'

/** How the files of an import are stored. */
export interface ImportOptions {
  client: Client
  /** The folder for all files. The folders of the source are created below it. */
  folder: string
  /** Tags for all files, in addition to their own. */
  tags: readonly string[]
  /** Whether each file has its old address in its metadata, as `importedFrom`. */
  withOldNames: boolean
  /** Whether each file gets an alias of its old folder and name, which URLs of other services contain. */
  withAliases: boolean
  /** Whether no events are emitted. */
  isSilent: boolean
}

/** The original that a file of an import has become. */
export interface ImportedFile {
  name: OriginalName
  /** Bytes; 0 for a file that was imported before. */
  size: number
  isNew: boolean
}

/** Imports single files. */
export interface FileImport {
  /** Stores a file, unless an earlier import has stored it. @throws Problem, or the error of the source */
  store(item: ImportItem, options: ImportOptions, signal: AbortSignal): Promise<ImportedFile>
  /** Checks what is known without storing the file: folder, URL, tags, size and type. @throws as `store` */
  check(item: ImportItem, options: ImportOptions, signal: AbortSignal): Promise<void>
  /** The original of an item that was imported before. */
  find(item: ImportItem, client: Client): Promise<OriginalName | undefined>
}

// The time limit of one file: 5 GiB at 1.5 MB/s.
const FILE_LIMIT_MS = 3_600_000

/**
 * The note about a file is written after its bytes and before its record, which is the commit. So a crash leaves at most a note
 * without an original, which the next run replaces, and never an original without a note, which it would import twice.
 */
export function createFileImport({
  notes,
  upload,
  remoteUpload,
  locks,
  aliases,
  maxBytes,
}: {
  notes: ImportNotes
  upload: Upload
  remoteUpload: RemoteUpload
  locks: Locks
  aliases: Pick<Aliases, 'set'>
  /** Limit of each file, unless the client's rules have a lower one. */
  maxBytes: number
}): FileImport {
  async function put(item: ImportItem, options: ImportOptions, digest: string, signal: AbortSignal) {
    const { client, isSilent } = options
    let key: ObjectKey | undefined
    const hooks = {
      async begin(name: OriginalName) {
        key = name.key
      },
      async confirm() {
        if (key) await notes.put(client, digest, key, signal)
      },
    }
    // A file that must have a certain key is never replaced by a duplicate. With duplicates, a second upload does no harm.
    const isReusing = client.rules?.dedupe === 'reuse'
    const annotations = annotationsOf(item, options)
    const stored = await putBytes(item, {
      client,
      folder: folderOf(item, options) || undefined,
      annotations: () => annotations,
      isSilent,
      signal,
      ...(isReusing ? {} : hooks),
    })
    if (isReusing) await notes.put(client, digest, stored.name.key, signal)
    return { key: stored.name.key, size: stored.record.size }
  }

  async function putBytes(
    { name, content, size }: ImportItem,
    request: Omit<Parameters<Upload>[0], 'files'>,
  ): Promise<UploadedFile> {
    if ('url' in content) {
      const url = parseRemoteUrl(content.url)
      return remoteUpload({ ...request, asker: 'secret', url, ...(name ? { name } : {}) })
    }
    checkSize(size, request.client)
    const { open } = content
    async function* files() {
      const bytes = await open(request.signal)
      try {
        yield { name, bytes }
      } finally {
        bytes.destroy()
      }
    }
    const [stored] = await upload({ ...request, files: files() })
    if (!stored) throw new Error('no file was stored')
    return stored
  }

  function checkSize(size: number | undefined, client: Client): void {
    const limit = uploadMaxBytes(client, maxBytes)
    if (size !== undefined && size > limit) throw tooLarge('a file', limit)
  }

  return {
    find: ({ identity }, client) => notes.find(client, noteDigest(identity)),

    async store(item, options, signal) {
      const { client } = options
      const digest = noteDigest(item.identity)
      let size = 0
      let isNew = false
      // Two imports of one source may run at the same time.
      const key = await locks.share(
        `import ${client.id} ${digest}`,
        async (held) => {
          const known = await notes.find(client, digest)
          if (known) return known.key
          const stored = await put(item, options, digest, held)
          size = stored.size
          isNew = true
          return stored.key
        },
        { signal, limitMs: FILE_LIMIT_MS },
      )
      const name = parseKey(key)
      if (!name) throw new Error(`not an original's key: ${key}`)
      if (options.withAliases) {
        const { isSilent } = options
        const alias = aliasOf(item, options)
        await aliases.set({ client, name: alias, path: { full: name }, check() {}, isSilent, signal })
      }
      return { name, size, isNew }
    },

    async check(item, options, signal) {
      const { client } = options
      parseFolder(folderOf(item, options) || undefined)
      annotationsOf(item, options)
      if (options.withAliases) aliasOf(item, options)
      const { content, size, name } = item
      if ('url' in content) return void parseRemoteUrl(content.url)
      checkSize(size, client)
      const bytes = await content.open(signal)
      try {
        const { head } = await takeHead(bytes)
        checkType(client.rules?.uploadTypes, (await sniff(head, name)).format, { owner: 'client' })
      } finally {
        bytes.destroy()
      }
    },
  }
}

function folderOf(item: ImportItem, { folder }: ImportOptions): string {
  return [folder, item.folder].filter((part) => part !== '').join('/')
}

/** @throws Problem 400 for a name that no alias may have */
function aliasOf(item: ImportItem, options: ImportOptions): string {
  return parseAliasName([folderOf(item, options), item.name].filter((part) => part !== '').join('/'))
}

function annotationsOf(
  { annotations, from }: ImportItem,
  { tags, withOldNames }: ImportOptions,
): Annotations {
  const { metadata } = annotations
  return {
    tags: checkTags([...annotations.tags, ...tags]),
    metadata: withOldNames ? checkMetadata({ ...metadata, importedFrom: from }) : metadata,
  }
}
