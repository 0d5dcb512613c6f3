import type { ListedFile } from '../../../client/index.ts'

type File = Pick<ListedFile, 'mimeType' | 'format'>

// LibreOffice converts these in a job.
const OFFICE = new Set(['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'rtf', 'doc', 'xls', 'ppt'])
const DRAWN = new Set(['pdf', 'epub', 'json', 'xml', 'm3u8'])

/** Whether the service renders a picture of this file at once: the page of a document, the cover of a book, the lines of a text. */
export function isDrawn({ mimeType, format }: File): boolean {
  return mimeType === 'text' || (mimeType === 'application' && DRAWN.has(format))
}

/** Whether LibreOffice on the server is needed for a picture of this file. */
export function isOffice({ format }: Pick<File, 'format'>): boolean {
  return OFFICE.has(format)
}
