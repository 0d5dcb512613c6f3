import type { CopyReport, MoveReport } from '../generated/api.ts'
import { COPIES_MAX } from '../generated/limits.ts'
import type { Api, CallOptions } from '../http/request.ts'
import { type FileRef, pathOf } from '../records.ts'

/** A file to copy. */
export interface CopyItem {
  file: FileRef
  /** A folder, empty for the top level. Or a path that ends with the `sourceName` of the file, which then retains its id. */
  to: string
}

/** A file to move. */
export interface MoveItem extends CopyItem {
  /** How long the former URLs redirect to the new ones: `90m`, `24h`, `7d`; at most `365d`. Default: not at all. */
  redirect?: string
}

/** Copies files, in as many requests as needed. */
export function copyFiles(
  api: Api,
  items: readonly CopyItem[],
  options: CallOptions = {},
): Promise<CopyReport['results']> {
  return inBatches(
    items,
    async (files) => (await send<CopyReport>(api, 'copy', { files, ...options })).results,
  )
}

/** Moves files, in as many requests as needed. */
export function moveFiles(
  api: Api,
  items: readonly MoveItem[],
  options: CallOptions = {},
): Promise<MoveReport['results']> {
  return inBatches(
    items,
    async (files) => (await send<MoveReport>(api, 'move', { files, ...options })).results,
  )
}

function send<Report>(
  api: Api,
  action: 'copy' | 'move',
  { files, signal }: { files: readonly MoveItem[] } & CallOptions,
): Promise<Report> {
  const json = { files: files.map(({ file, ...item }) => ({ ...item, from: pathOf(file) })) }
  return api.json({
    method: 'POST',
    path: `/v1/files/${action}`,
    kind: 'transfer',
    json,
    once: action === 'copy',
    signal,
  })
}

async function inBatches<Item, Outcome>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<Outcome[]>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (let i = 0; i < items.length; i += COPIES_MAX)
    outcomes.push(...(await work(items.slice(i, i + COPIES_MAX))))
  return outcomes
}
