import type { ListedFile } from '../../../client/index.ts'

type File = Pick<ListedFile, 'mimeType' | 'format'>

// LibreOffice converts these in a job.
const OFFICE = new Set(['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'rtf', 'doc', 'xls', 'ppt'])
const PAGED = new Set(['pdf', 'epub'])
const LINES = new Set(['json', 'xml', 'm3u8'])

/** As browsers request pictures, so that `f=auto` chooses the same format. */
export const ACCEPT = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8'

/** Whether the service renders a picture of this file at once: the page of a document, the cover of a book, the lines of a text. */
export function isDrawn(file: File): boolean {
  return (
    hasPage(file) || file.mimeType === 'text' || (file.mimeType === 'application' && LINES.has(file.format))
  )
}

/** Whether its picture is a page or a cover. The picture of a text cannot be read when it is small. */
export function hasPage({ mimeType, format }: File): boolean {
  return mimeType === 'application' && PAGED.has(format)
}

/** Whether LibreOffice on the server is needed for a picture of this file. */
export function isOffice({ format }: Pick<File, 'format'>): boolean {
  return OFFICE.has(format)
}
