import { aliasTag, clientTag, fileTag, folderTag } from '../../src/core/caching/cache-tags.ts'
import type { EventName, Events } from '../../src/core/events.ts'
import { encodedPath, parseKey } from '../../src/core/files/object-key.ts'

/** What a CDN has to purge: by its tag, or by the paths of its URLs. */
export interface Purged {
  tag: string
  /**
   * Percent-encoded, with a leading slash. Parameters, and the names of derivatives, follow them. Empty for a folder or a client: these
   * have no path of their own, since the type of a file comes before its folder in URLs.
   */
  paths: readonly string[]
}

/** What is no longer delivered after this event: of a file, of an alias, or of a client. */
export function purgedBy(name: EventName, event: Events[EventName]): Purged[] {
  if (name === 'alias.changed') return purgedAlias(event as Events['alias.changed'])
  if (name !== 'client.changed') return purgedFile(event as Events['original.deleted'])
  const { clientId, withdrawn = [] } = event as Events['client.changed']
  return withdrawn.map((folder) => ({
    tag: folder === '' ? clientTag(clientId) : folderTag(clientId, folder),
    paths: [],
  }))
}

function purgedFile({ key, src }: Events['original.deleted']): Purged[] {
  const name = parseKey(key)
  const [, route, token] = /(\/v1\/[^/]+)\/upload\/([^/]+)\//.exec(new URL(src).pathname) ?? []
  if (!name || route === undefined || token === undefined) return []
  const full = encodedPath(key)
  const short = encodedPath(name.folder === '' ? name.sourceName : `${name.folder}/${name.sourceName}`)
  return [
    {
      tag: fileTag(name),
      paths: [
        `${route}/upload/${token}/${short}`,
        `${route}/upload/${token}/${full}`,
        `${route}/info/${token}/${full}`,
        `${route}/info/${token}/${short}`,
        `/v1/bucket/${token}/${full}`,
      ],
    },
  ]
}

/** Nothing for a new alias: caches store no errors, and a URL of another service may deliver another alias for two more minutes. */
function purgedAlias({ clientId, name, src, formerKey }: Events['alias.changed']): Purged[] {
  const group = parseKey(formerKey ?? '')?.format.group
  const [, path] = /\/v1\/[^/]+(\/alias\/.+)$/.exec(new URL(src).pathname) ?? []
  if (group === undefined || path === undefined) return []
  return [{ tag: aliasTag(clientId, name), paths: [`/v1/${group}${path}`] }]
}
