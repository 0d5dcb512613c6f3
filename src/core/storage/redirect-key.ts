import { type ObjectKey, RECORDS, storedKey } from '../files/object-key.ts'

/** The prefix of all redirects of a client. */
export const redirectPrefix = `${RECORDS}/redirects/`

/** The key of the redirect from the key of a moved original. */
export function redirectKey(from: ObjectKey): ObjectKey {
  return storedKey(`${redirectPrefix}${from}.json`)
}
