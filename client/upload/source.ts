import type { Source } from './chunks.ts'

/** A file that the service downloads by itself. */
export interface RemoteFile {
  /** An http or https URL. The operator must allow its host: docs/how-to/remote-files.md. */
  url: string | URL
}

/** A file of this machine. Only in Node, Bun and Deno. */
export interface LocalFile {
  path: string
}

/** A stream of bytes, for example the body of a response, or a Readable of Node. */
export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * The bytes to upload. A path and a URL are objects, so that a text from a user never becomes one by accident.
 */
export type UploadSource = Blob | ArrayBuffer | Uint8Array | ByteStream | LocalFile

/** Opens a source. @throws TypeError for any other value */
export async function openSource(given: UploadSource, name: string | undefined): Promise<Source> {
  if (given instanceof Blob) return blobSource(given, name)
  if (given instanceof ArrayBuffer || given instanceof Uint8Array)
    return blobSource(new Blob([given as Uint8Array<ArrayBuffer>]), name)
  if (typeof given === 'object' && given !== null) {
    if ('path' in given && typeof given.path === 'string' && !(Symbol.asyncIterator in given))
      // Loaded on first use: pages have no paths.
      return (await import('./direct/direct.ts')).openPath(given.path, name)
    const pieces = piecesOf(given as ByteStream)
    if (pieces) return streamSource(pieces, name ?? '')
  }
  throw new TypeError(
    'expected a Blob, an ArrayBuffer, a Uint8Array, a stream, { path } or { url } as the file to upload',
  )
}

/** What a page knows of a file without its bytes. */
export type FileIdentity = Pick<File, 'name' | 'size' | 'type' | 'lastModified'>

/** Names a file for a later resume. */
export function fingerprintOf({ name, size, type, lastModified }: FileIdentity): string {
  return JSON.stringify([name, size, type, lastModified])
}

function blobSource(blob: Blob, given: string | undefined): Source {
  const { name = '', lastModified } = blob as Partial<File>
  const { size, type } = blob
  return {
    name: given ?? name,
    size,
    // Without a date, another file may have the same name and size.
    fingerprint: lastModified === undefined ? undefined : fingerprintOf({ name, size, type, lastModified }),
    isReplayable: true,
    async chunk(from, maxBytes) {
      const end = Math.min(blob.size, from + maxBytes)
      return { bytes: blob.slice(from, end), isLast: end === blob.size }
    },
    close: async () => {},
  }
}

function piecesOf(given: ByteStream): AsyncIterator<Uint8Array> | undefined {
  if (Symbol.asyncIterator in given) return given[Symbol.asyncIterator]()
  // Safari's streams have no iterator.
  if (!('getReader' in given)) return undefined
  const reader = (given as ReadableStream<Uint8Array>).getReader()
  return {
    next: async () => (await reader.read()) as IteratorResult<Uint8Array>,
    return: async () => {
      await reader.cancel()
      return { done: true, value: undefined }
    },
  }
}

function streamSource(pieces: AsyncIterator<Uint8Array>, name: string): Source {
  // The bytes from `start` on that were read but are not known to be stored.
  let held: Uint8Array[] = []
  let heldBytes = 0
  let start = 0
  let hasEnded = false
  const drop = (bytes: number) => {
    const rest = new Blob(held as Uint8Array<ArrayBuffer>[]).slice(bytes)
    heldBytes -= bytes
    start += bytes
    return rest.arrayBuffer().then((buffer) => {
      held = [new Uint8Array(buffer)]
    })
  }
  return {
    name,
    size: undefined,
    fingerprint: undefined,
    isReplayable: false,
    async chunk(from, maxBytes) {
      if (from < start || from > start + heldBytes)
        throw new TypeError(`a stream cannot be read again from byte ${from}`)
      await drop(from - start)
      // One byte more than requested shows that the chunk is not the last one.
      while (!hasEnded && heldBytes <= maxBytes) {
        const { done, value } = await pieces.next()
        if (done) hasEnded = true
        else {
          if (!(value instanceof Uint8Array)) throw new TypeError('expected a stream of Uint8Array')
          held.push(value)
          heldBytes += value.length
        }
      }
      const bytes = new Blob(held as Uint8Array<ArrayBuffer>[]).slice(0, maxBytes)
      return { bytes, isLast: heldBytes <= maxBytes }
    },
    async close() {
      if (!hasEnded) await pieces.return?.()
    },
  }
}
