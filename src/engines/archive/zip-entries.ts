import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel, validateFileName } from 'yauzl'
import type { ArchiveEntry, ArchiveFacts, ArchiveInspector } from '../../core/plugin-api/inspectors.ts'
import { WindowReader } from './window-reader.ts'

const MAX_ENTRIES = 1000
// A thousand usual entries have 100 kB. Name, comment and extra fields of one entry may have 190 kB.
const MAX_BYTES = 2_000_000
const MAX_NAME = 500

/** Lists the entries of a ZIP from its central directory. No entry is opened. */
export const archiveInspector: ArchiveInspector = {
  async entries(source, signal) {
    const reader = new WindowReader(source, signal)
    try {
      return await listed(reader, source.size)
    } catch (error) {
      if (reader.failure !== undefined) throw reader.failure
      // yauzl throws only Errors about the file.
      if (error instanceof Error) return undefined
      throw error
    }
  },
}

async function listed(reader: WindowReader, size: number): Promise<ArchiveFacts> {
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false }
  const zip = await fromRandomAccessReaderPromise(reader, size, options)
  const entries: ArchiveEntry[] = []
  let read = 0
  for await (const entry of zip.eachEntry()) {
    const shown = shownEntry(entry)
    if (shown) entries.push(shown)
    read += 1
    if (read === MAX_ENTRIES || reader.bytesRead > MAX_BYTES) break
  }
  return { entryCount: zip.entryCount, entries }
}

/** Undefined for an entry whose name leaves the archive. */
function shownEntry(entry: Entry): ArchiveEntry | undefined {
  const { generalPurposeBitFlag, fileNameRaw, extraFields, uncompressedSize, compressedSize } = entry
  const name = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false)
  if (name === '' || validateFileName(name) !== null) return undefined
  return {
    name: name.slice(0, MAX_NAME).replace(/\p{C}/gu, '\ufffd'),
    size: uncompressedSize,
    compressedSize,
    ...(entry.isEncrypted() ? { encrypted: true } : {}),
  }
}
