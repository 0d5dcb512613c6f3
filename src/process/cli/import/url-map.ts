import { createWriteStream, type WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import type { ImportOutcome } from '../../../core/imports/outcome.ts'
import { csvRow } from '../../../core/text/csv.ts'

/** A file with the old and new URLs of an import. A complete run writes all files of its source, also those of earlier runs. */
export interface UrlMap {
  /** @throws Error when the file could not be written */
  add(outcome: ImportOutcome): void
  /** @throws Error when the file could not be written */
  close(): Promise<void>
}

const COLUMNS = ['from', 'key', 'src'] as const

/** @param path CSV with a header if it ends with `.csv`, else JSON lines. An existing file is replaced with the first URL */
export function urlMap(path: string): UrlMap {
  const isCsv = /\.csv$/i.test(path)
  let file: WriteStream | undefined
  let failure: Error | undefined
  function begin(): WriteStream {
    const stream = createWriteStream(path)
    stream.on('error', (error) => {
      failure = error
    })
    if (isCsv) stream.write(csvRow(COLUMNS))
    return stream
  }
  return {
    add(outcome) {
      if (failure) throw failure
      if (!('src' in outcome)) return
      file ??= begin()
      const { from, key, src } = outcome
      // Written without waiting: a disk is faster than an import.
      file.write(isCsv ? csvRow([from, key, src]) : `${JSON.stringify({ from, key, src })}\n`)
    },
    async close() {
      if (failure) throw failure
      if (!file) return
      file.end()
      await finished(file)
    },
  }
}
