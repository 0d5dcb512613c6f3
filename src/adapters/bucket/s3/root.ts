import { FIRST_CLIENT_ID } from '../../../core/clients/client.ts'
import { type ObjectKey, storedKey } from '../../../core/files/object-key.ts'

const OTHERS = '.sluice/roots/'

/**
 * Where a client's objects lie in the bucket.
 *
 * The first client's root is what the operator has configured, `<prefix>`, which may be the whole bucket; whoever has
 * rights for this prefix only has rights for all. So the others' have to lie below it: `<prefix>.sluice/roots/<id>/`.
 * Still none contains another. `.sluice/` is the service's own: no path of a request and no folder of an upload can
 * begin so, the first client's records lie in other folders of it, and this file takes `.sluice/roots/` out of the first
 * root: its keys name nothing there, and no list shows it. Ids have no slash, so that none is the beginning of another's.
 */
export interface Root {
  /** What all names in it begin with: empty, or with a slash at its end. */
  prefix: string
  /** The others' roots: what begins so is not in this one, although it begins with the prefix. */
  excluded?: string
  /** @throws Error for a key of another root */
  nameOf(key: ObjectKey): string
  /** Undefined for what is not in this root, and for names that are no keys: others may use the bucket, too. */
  keyOf(name: string): ObjectKey | undefined
}

/** The root of a client. `prefix` comes from {@link normalPrefix}. */
export function rootOf(clientId: string, prefix: string): Root {
  const others = prefix + OTHERS
  return clientId === FIRST_CLIENT_ID ? root(prefix, others) : root(`${others}${clientId}/`)
}

/** The root that a name lies in, whoever's that is. */
export function rootAround(name: string, prefix: string): Root {
  const others = prefix + OTHERS
  const [id = ''] = name.slice(others.length).split('/')
  return rootOf(name.startsWith(others) ? id : FIRST_CLIENT_ID, prefix)
}

/** `/photos/2024` → `photos/2024/`; empty stays empty. */
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
