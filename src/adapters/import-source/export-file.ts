import { createReadStream } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { exportEntry } from '../../core/imports/export-entry.ts'
import type { ImportItem, ImportSource, RefusedItem } from '../../core/imports/source.ts'
import { csvRows } from '../../core/text/csv.ts'
import { linesOf } from '../../core/text/lines.ts'

// Parsed as a whole, which takes about ten times the memory. Larger exports are JSON lines or CSV, which are read in turn.
const JSON_MAX_BYTES = 64 * 1024 * 1024
const HEAD_BYTES = 64 * 1024
// An entry has an address, some names and metadata.
const LINE_MAX_CHARACTERS = 1024 * 1024
// Lists of Cloudinary and Uploadcare are in these members.
const LIST_MEMBERS = ['resources', 'results'] as const

/** A place in an export, for messages: "line 12". */
type Entry = { value: unknown; place: string } | { place: string; broken: string }

/** The files that an export lists: CSV with a header, JSON lines, or one JSON document of Cloudinary or Uploadcare. */
export function exportSource(path: string): ImportSource {
  return {
    async *items(signal) {
      for await (const entry of await entriesOf(path)) {
        signal.throwIfAborted()
        yield 'broken' in entry ? { from: entry.place, refused: entry.broken } : itemOf(entry)
      }
    },
  }
}

function itemOf({ value, place }: { value: unknown; place: string }): ImportItem | RefusedItem {
  try {
    const { url, folder, name, annotations } = exportEntry(value)
    return { from: url, identity: `url ${url}`, name, folder, annotations, content: { url } }
  } catch (error) {
    return { from: addressIn(value) ?? place, refused: (error as Error).message }
  }
}

function addressIn(value: unknown): string | undefined {
  const { url, secure_url, original_file_url } = (value ?? {}) as Record<string, unknown>
  return [url, secure_url, original_file_url].find((each) => typeof each === 'string')
}

async function entriesOf(path: string): Promise<AsyncIterable<Entry>> {
  const head = await headOf(path)
  const start = head.trimStart()
  if (!/^[[{]/.test(start)) return csvEntries(path)
  const [first = ''] = start.split('\n', 1)
  if (isEntry(first)) return lineEntries(path)
  return documentEntries(path)
}

async function headOf(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return withoutMark(buffer.toString('utf8', 0, bytesRead))
  } finally {
    await file.close()
  }
}

/** Whether a first line is one entry, and not a document with a list. */
function isEntry(line: string): boolean {
  try {
    const value = JSON.parse(line)
    return typeof value === 'object' && !Array.isArray(value) && !LIST_MEMBERS.some((name) => name in value)
  } catch {
    return false
  }
}

async function* csvEntries(path: string): AsyncGenerator<Entry> {
  const chunks = createReadStream(path, 'utf8')
  let names: string[] | undefined
  let row = 0
  for await (const cells of csvRows(chunks)) {
    row += 1
    if (!names) {
      names = cells.map((cell) => withoutMark(cell).trim())
      if (!names.includes('url') && !names.includes('secure_url') && !names.includes('original_file_url'))
        throw new Error(
          `${path} is not an export: expected JSON, or CSV whose first row names a column "url"`,
        )
      continue
    }
    const filled = names.map((name, i) => [name, cells[i] ?? ''] as const).filter(([, cell]) => cell !== '')
    yield { value: Object.fromEntries(filled), place: `row ${row}` }
  }
}

async function* lineEntries(path: string): AsyncGenerator<Entry> {
  const lines = linesOf(createReadStream(path, 'utf8'), { maxCharacters: LINE_MAX_CHARACTERS })
  let number = 0
  for await (const line of lines) {
    number += 1
    if (line.trim() === '') continue
    const place = `line ${number}`
    try {
      yield { value: JSON.parse(withoutMark(line)), place }
    } catch (error) {
      yield { place, broken: (error as Error).message }
    }
  }
}

async function* documentEntries(path: string): AsyncGenerator<Entry> {
  const { size } = await stat(path)
  if (size > JSON_MAX_BYTES)
    throw new Error(
      `expected a JSON document of at most ${JSON_MAX_BYTES} bytes but ${path} has ${size}. Write one entry per line instead`,
    )
  const document = JSON.parse(withoutMark(await readFile(path, 'utf8')))
  // Several pages of an API may be in one array.
  const pages = Array.isArray(document) ? document : [document]
  const lists = pages.flatMap((page) => {
    const member = LIST_MEMBERS.find((name) => Array.isArray(page?.[name]))
    return member ? page[member] : [page]
  })
  for (const [i, value] of lists.entries()) yield { value, place: `entry ${i + 1}` }
}

/** Without the byte order mark that spreadsheets write. */
function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '')
}
