import { badParameter } from '../../core/problem.ts'
import { isFolderField } from './folder-fields.ts'

// Annotations are statements of the client about its files, which its back end may trust. Derivatives consume turns
// and places, and may include other files of the client.
const ONLY_WITH_SECRET: ReadonlySet<string> = new Set(['tags', 'metadata', 'focalPoint', 'transforms'])

/**
 * Refuses fields of a form, and keys of tus's `Upload-Metadata`, that need a secret. An empty value is accepted: forms
 * send it for a field that was left empty.
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

/** As {@link refuseInLink}, for the fields of a form: the link has the folder, and no field can change it. @throws Problem 400 */
export function refuseFieldInLink(param: string, received: string | undefined): void {
  refuseInLink(param, received)
  if (!isFolderField(param) || received === '') return
  throw badParameter({ param, expected: 'no such field: the folder is that of the link', received })
}
