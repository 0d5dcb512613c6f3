import type { TransformParameters } from '../delivery/parameters.ts'
import type { FileRecord } from '../generated/api.ts'
import { type Api, type CallOptions, encodedPath } from '../http/request.ts'
import { type FileRef, pathOf } from '../records.ts'

/** A file of an archive: a path, a record, or either with more. */
export type ZipFile = FileRef | ZipEntry

/** A file of an archive. */
export interface ZipEntry {
  file: FileRef
  /** The name in the archive. Default: the name of a record, else the path. */
  name?: string
  /** Parameters of a derivative. */
  parameters?: TransformParameters
  /** The same as `parameters`, as the HTTP API names it. */
  params?: TransformParameters
  /** Default: the type of a record or a full key; for another path `image`, else any other type that has the file. */
  type?: FileRecord['mimeType']
}

/** Options of an archive. */
export interface ZipOptions extends CallOptions {
  /** Default: `archive.zip`. */
  archiveName?: string
}

/** Requests an archive. */
export function requestZip(
  api: Api,
  files: readonly ZipFile[],
  { archiveName, signal }: ZipOptions = {},
): Promise<Response> {
  const json = { archiveName, files: files.map(wireEntry) }
  return api.send({ method: 'POST', path: '/v1/zip', kind: 'transfer', json, isIdempotent: true, signal })
}

function wireEntry(given: ZipFile) {
  const entry: ZipEntry = typeof given === 'object' && 'file' in given ? given : { file: given }
  const { originalName, mimeType } = entry.file as Partial<FileRecord>
  const parameters = entry.parameters ?? entry.params
  return {
    path: encodedPath(pathOf(entry.file)),
    type: entry.type ?? mimeType,
    name: entry.name ?? (originalName || undefined),
    params: parameters && textValues(parameters),
  }
}

/** The service takes texts, numbers and booleans. */
function textValues(parameters: TransformParameters): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]),
  )
}
