import { FIRST_CLIENT_ID } from '../../../core/clients/client.ts'
import { type ObjectKey, storedKey } from '../../../core/files/object-key.ts'

const OTHERS = '.sluice/roots/'

/**
 * The part of the bucket that has the objects of one client.
 *
 * The root of the first client is the configured `<prefix>`, which may be the whole bucket. Credentials may be limited to
 * this prefix, so the roots of other clients lie below it: `<prefix>.sluice/roots/<id>/`. Still, no root contains another.
 * `.sluice/` is reserved for the service: no path of a request and no folder of an upload can begin with it. The records of
 * the first client are in other folders of `.sluice/`. This file excludes `.sluice/roots/` from the first root: its keys
 * name no object there, and no list shows one. IDs have no slash, so no root is a prefix of another.
 */
export interface Root {
  /** The prefix of all names in this root: empty, or with a trailing slash. */
  prefix: string
  /**
   * The prefix of the roots of other clients. Names with this prefix are not in this root, although they begin with
   * `prefix`.
   */
  excluded?: string
  /** The name of the object with this key. @throws Error for a key of another root */
  nameOf(key: ObjectKey): string
  /** Undefined for names outside this root, and for names that are not keys: other programs may use the bucket, too. */
  keyOf(name: string): ObjectKey | undefined
}

/** The root of a client. `prefix` must come from {@link normalPrefix}. */
export function rootOf(clientId: string, prefix: string): Root {
  const others = prefix + OTHERS
  return clientId === FIRST_CLIENT_ID ? root(prefix, others) : root(`${others}${clientId}/`)
}

/** The root that contains a name, whichever client it belongs to. */
export function rootAround(name: string, prefix: string): Root {
  const others = prefix + OTHERS
  const [id = ''] = name.slice(others.length).split('/')
  return rootOf(name.startsWith(others) ? id : FIRST_CLIENT_ID, prefix)
}

/** Removes leading and repeated slashes, and adds a trailing one: `/photos/2024` → `photos/2024/`. Empty stays empty. */
export function normalPrefix(prefix: string): string {
  const segments = prefix.split('/').filter((segment) => segment !== '')
  return segments.map((segment) => `${segment}/`).join('')
}

function root(prefix: string, excluded?: string): Root {
  const contains = (name: string) =>
    name.startsWith(prefix) && (excluded === undefined || !name.startsWith(excluded))
  return {
    prefix,
    ...(excluded === undefined ? {} : { excluded }),
    nameOf(key) {
      const name = `${prefix}${key}`
      if (!contains(name)) throw new Error(`not in the root of this client: ${JSON.stringify(key)}`)
      return name
    },
    keyOf(name) {
      if (!contains(name)) return undefined
      try {
        return storedKey(name.slice(prefix.length))
      } catch {
        return undefined
      }
    },
  }
}
