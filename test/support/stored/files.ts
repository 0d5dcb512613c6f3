import { ask } from '../requests/ask.ts'
import type { Caller, WireRecord } from '../requests/client.ts'

/** A record of `GET /v1/files`. */
export interface WireFile extends WireRecord {
  mediaType: string
  sha256: string
  uploadedAt: string
  tags: string[]
  metadata: Record<string, string>
  focalPoint?: { x: number; y: number }
  deletedAt?: string
  deletedUntil?: string
}

export interface WirePart {
  files: WireFile[]
  cursor: string | null
}

/** A part of a list. */
export async function listPart(caller: Caller, query = '', options = {}): Promise<WirePart> {
  const { status, body } = await ask(caller, `/v1/files${query}`, options)
  if (status !== 200) throw new Error(`the list was refused: ${status} ${JSON.stringify(body)}`)
  return body
}

/** All parts of it. `query` without its `?`. */
export async function listAll(caller: Caller, query = '', options = {}): Promise<WireFile[]> {
  const files: WireFile[] = []
  for (let cursor = ''; ; ) {
    const part = await listPart(caller, `?${query}${cursor && `&cursor=${cursor}`}`, options)
    files.push(...part.files)
    if (part.cursor === null) return files
    cursor = part.cursor
  }
}

/** The path of one file. */
export function filePath(key: string): string {
  return `/v1/files/${key.split('/').map(encodeURIComponent).join('/')}`
}
