import { badParameter } from '../../core/problem.ts'

// Tags and metadata are what the client says of its files, and its back end may trust them. Derivatives take a turn
// and a place, and may be rendered with other files of the client.
const ONLY_WITH_SECRET: ReadonlySet<string> = new Set(['tags', 'metadata', 'transforms'])

/**
 * Refuses what only a secret may set in an upload: a field of a form, or a key of tus's `Upload-Metadata`. An empty value
 * is what a form sends whose field was left empty.
 *
 * @throws Problem 400
 */
export function refuseInLink(param: string, received: string | null | undefined): void {
  if (!ONLY_WITH_SECRET.has(param) || received === '') return
  throw badParameter({
    param,
    expected: 'no such field in an upload by a signed link',
    received: received ?? undefined,
  })
}
