import type { DeletionReport, RestorationReport } from '../generated/api.ts'
import { BATCH_PATHS_MAX } from '../generated/limits.ts'
import type { Api, CallOptions } from '../http/request.ts'
import { type FileRef, pathOf } from '../records.ts'

/** The outcome for one file. */
export type FileReport = DeletionReport['results'][number] | RestorationReport['results'][number]

/** Files to delete: some of them, those of a folder, or all. */
export type Selection = readonly FileRef[] | { prefix: string } | { all: true }

/** Options of a delete of several files. */
export interface ManyOptions extends CallOptions {
  /** Also when the client has soft delete. */
  permanently?: boolean
}

/** Deletes files, in as many requests as needed. */
export async function removeMany(
  api: Api,
  selection: Selection,
  { permanently: now, signal }: ManyOptions = {},
): Promise<FileReport[]> {
  const request = (json: object) =>
    api.json<DeletionReport>({
      method: 'POST',
      path: '/v1/files/delete',
      kind: 'transfer',
      json: { ...json, now },
      signal,
    })
  if (isList(selection)) return inBatches(selection, async (paths) => (await request({ paths })).results)
  const reports: FileReport[] = []
  for (let more = true; more; ) {
    const page = await request(selection)
    reports.push(...page.results)
    // A page of errors alone would be returned again and again.
    more = page.more && page.results.some(({ status }) => status !== 'error')
  }
  return reports
}

/** Restores files, in as many requests as needed. */
export function restoreMany(
  api: Api,
  files: readonly FileRef[],
  { signal }: CallOptions = {},
): Promise<FileReport[]> {
  return inBatches(files, async (paths) => {
    const json = { paths }
    const request = { method: 'POST' as const, path: '/v1/files/restore', kind: 'transfer' as const }
    return (await api.json<RestorationReport>({ ...request, json, signal })).results
  })
}

async function inBatches(
  files: readonly FileRef[],
  work: (paths: string[]) => Promise<FileReport[]>,
): Promise<FileReport[]> {
  const reports: FileReport[] = []
  for (let i = 0; i < files.length; i += BATCH_PATHS_MAX)
    reports.push(...(await work(files.slice(i, i + BATCH_PATHS_MAX).map(pathOf))))
  return reports
}

/** Array.isArray does not accept a readonly array as a type. */
function isList(selection: Selection): selection is readonly FileRef[] {
  return Array.isArray(selection)
}
