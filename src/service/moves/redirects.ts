import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, type OriginalName, parseKey } from '../../core/files/object-key.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import { redirectKey } from '../../core/storage/redirect-key.ts'
import { putJson, snapshot } from '../../core/storage/small-object.ts'
import { deleteAll } from '../originals/delete-objects.ts'
import type { Originals } from '../originals/originals.ts'

/** Where the URLs of a moved original lead. */
export interface Redirect {
  to: ObjectKey
  /** In milliseconds since 1970, exclusive. */
  until: number
}

/** The original that a redirect leads to. */
export interface RedirectTarget {
  name: OriginalName
  /** The end of the redirect, or of the first one to end if the original was moved repeatedly. */
  until: number
}

/** The redirects of moved originals. Each is an object in the bucket, so they do not depend on the index. */
export interface Redirects {
  put(client: Client, from: ObjectKey, redirect: Redirect, signal: AbortSignal): Promise<void>
  drop(client: Client, from: ObjectKey): Promise<void>
  /** The stored original that replaces a moved one; undefined without a redirect. @throws Problem 503 */
  follow(client: Client, from: ObjectKey): Promise<RedirectTarget | undefined>
}

// An original may be moved repeatedly. More moves than these within the time of a redirect are not followed.
const HOPS = 8

const storedRedirect = z.object({ to: z.string(), until: z.number() })

export function createRedirects({
  buckets,
  originals,
  now = Date.now,
}: {
  buckets: Buckets
  originals: Pick<Originals, 'resolveToRead'>
  now?: () => number
}): Redirects {
  return {
    put: (client, from, redirect, signal) =>
      putJson(buckets.of(client), redirectKey(from), { value: redirect, signal }),

    drop: (client, from) => deleteAll(buckets.of(client), [redirectKey(from)]),

    async follow(client, from) {
      const bucket = buckets.of(client)
      let until = Number.POSITIVE_INFINITY
      let key = from
      for (let hop = 0; hop < HOPS; hop += 1) {
        const redirect = await readRedirect(bucket, redirectKey(key))
        const name = redirect && parseKey(redirect.to)
        if (!name || redirect.until <= now()) return undefined
        until = Math.min(until, redirect.until)
        const found = await originals.resolveToRead(client, { full: name })
        if (found) return { name: found.name, until }
        key = name.key
      }
      return undefined
    },
  }
}

/** Reads a redirect. Undefined when it does not exist, or is damaged: then the URL returns 404 as without it. */
export async function readRedirect(
  bucket: Bucket,
  key: ObjectKey,
): Promise<z.infer<typeof storedRedirect> | undefined> {
  const found = await snapshot(bucket, key)
  if (!found) return undefined
  try {
    return storedRedirect.parse(JSON.parse(found.bytes.toString('utf8')))
  } catch {
    return undefined
  }
}
