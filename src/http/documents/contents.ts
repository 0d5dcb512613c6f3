import type { Content } from './endpoint.ts'

/** The bytes of a file. */
export const FILE_BYTES = {
  json: { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' },
} satisfies Content
/** A file of any type. */
export const ANY_FILE: Readonly<Record<string, Content>> = { '*/*': FILE_BYTES }
/** A page. */
export const HTML: Readonly<Record<string, Content>> = { 'text/html': { json: { type: 'string' } } }
