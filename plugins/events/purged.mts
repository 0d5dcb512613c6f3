import { clientTag, fileTag, folderTag } from '../../src/core/caching/cache-tags.ts'
import type { Events } from '../../src/core/events.ts'
import { encodedPath, parseKey } from '../../src/core/files/object-key.ts'

/** What a CDN has to purge: by its tag, or by the paths of its URLs. */
export interface Purged {
  tag: string
  /** Percent-encoded, with a leading slash. A path that ends in `*` means all that begin with it. */
  paths: readonly string[]
}

/** All files of all clients. Folders and clients have no path of their own: the type of the file comes before it in URLs. */
export const ALL = '/v1/*'

/** What is no longer delivered after this event. */
export function purgedBy(
  name: 'original.deleted' | 'original.trashed',
  event: Events['original.deleted'] | Events['original.trashed'],
): Purged[]
export function purgedBy(name: 'client.changed', event: Events['client.changed']): Purged[]
export function purgedBy(name: string, event: object): Purged[] {
  if (name !== 'client.changed') return purgedFile(event as Events['original.deleted'])
  const { clientId, withdrawn = [] } = event as Events['client.changed']
  return withdrawn.map((folder) => ({
    tag: folder === '' ? clientTag(clientId) : folderTag(clientId, folder),
    paths: [ALL],
  }))
}

function purgedFile({ key, src }: Events['original.deleted']): Purged[] {
  const name = parseKey(key)
  const [, route, token] = /(\/v1\/[^/]+)\/upload\/([^/]+)\//.exec(new URL(src).pathname) ?? []
  if (!name || route === undefined || token === undefined) return []
  const full = encodedPath(key)
  const short = encodedPath(name.folder === '' ? name.sourceName : `${name.folder}/${name.sourceName}`)
  // The parameters of derivatives follow the path of the file, and the names of their parts follow its key. CloudFront limits paths
  // with `*`, so only URLs that Sluice returns have one.
  const usual = name.folder === '' ? [short, full] : [full]
  const others = name.folder === '' ? [] : [`${route}/upload/${token}/${short}`]
  return [
    {
      tag: fileTag(name),
      paths: [
        ...usual.map((path) => `${route}/upload/${token}/${path}*`),
        ...others,
        `${route}/info/${token}/${full}`,
        `${route}/info/${token}/${short}`,
        `/v1/bucket/${token}/${full}`,
      ],
    },
  ]
}
