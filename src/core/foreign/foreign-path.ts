import { sha256 } from '../bytes/digest.ts'
import { isRecords, type ObjectKey, pathDefect, RECORDS, storedKey } from '../files/object-key.ts'
import { badPath } from '../problem.ts'

// Objects that another system has written into a bucket, below the prefixes of FOREIGN_PREFIXES. They are read, never changed
// or deleted.

/** Whether a key is below one of these prefixes. */
export type IsForeign = (key: string) => boolean

/** @param prefixes folders relative to the root of a client; slashes at their ends are optional */
export function foreignTest(prefixes: readonly string[]): IsForeign {
  const folders = prefixes.map((prefix) => `${prefix.replace(/^\/+|\/+$/g, '')}/`)
  return (key) => folders.some((folder) => key.startsWith(folder)) && !isRecords(key.split('/')[0])
}

/** The name of a foreign object. @throws Problem 400 for a path that no object may have, as for other paths */
export function foreignKey(path: string): ObjectKey {
  const expected = pathDefect(path)
  if (expected) throw badPath({ param: 'path', expected, received: path })
  return storedKey(path)
}

/** The prefix of the derivatives of all foreign objects. */
export const foreignDerivatives = `${RECORDS}/foreign/`

/** The prefix of the derivatives of one foreign object, in all its versions. */
export function derivativesOfForeign(object: ObjectKey): string {
  return `${foreignDerivatives}${sha256(object).slice(0, 32)}/`
}

/** The prefix of the derivatives of one version of a foreign object. @param version as in `versionOf` of service/foreign */
export function derivativesOfVersion(object: ObjectKey, version: string): string {
  return `${derivativesOfForeign(object)}${version}_`
}

/** The key of a derivative of a foreign object. @param variant as returned by `variantOf` */
export function foreignDerivativeKey(object: ObjectKey, version: string, variant: string): ObjectKey {
  return storedKey(`${derivativesOfVersion(object, version)}${variant}`)
}
