import type { Alias, AliasList, ListedAlias, File as ListedFile } from '../generated/api.ts'
import { type Api, type CallOptions, encodedPath } from '../http/request.ts'
import { type FileRef, pathOf } from '../records.ts'
import { itemsOf } from './pages.ts'

/** Which aliases a list has. */
export interface AliasListOptions extends CallOptions {
  /** A folder: only aliases in it or below. */
  prefix?: string
  /** Aliases per page, from 1 to 1000. Default: 100. */
  limit?: number
}

/** Stable names for files. All calls reject with a {@link SluiceError}. */
export interface Aliases {
  /** Sets an alias to a file, and creates the alias when it does not exist. */
  set(name: string, file: FileRef, options?: CallOptions): Promise<Alias>
  /** The alias with its last versions. */
  get(name: string, options?: CallOptions): Promise<Alias>
  /** All aliases, sorted by name, page by page as they are needed. */
  list(options?: AliasListOptions): AsyncIterableIterator<ListedAlias>
  /** Sets an alias to the file of an earlier version. Default: the previous version. */
  rollback(name: string, options?: CallOptions & { version?: number }): Promise<Alias>
  /** Deletes an alias, but no file. */
  delete(name: string, options?: CallOptions): Promise<void>
}

/** Creates the calls for aliases. */
export function createAliases(api: Api): Aliases {
  const path = (name: string) => `/v1/aliases/${encodedPath(name)}`
  return {
    set: (name, file, { signal } = {}) =>
      api.json({ method: 'PUT', path: path(name), json: { file: pathOf(file) }, isIdempotent: true, signal }),
    get: (name, { signal } = {}) => api.json({ path: path(name), signal }),
    list: ({ signal, ...options } = {}) =>
      itemsOf(async (cursor) => {
        const request = { path: '/v1/aliases', query: { ...options, cursor }, signal }
        const page = await api.json<AliasList>(request)
        return { items: page.aliases, cursor: page.cursor }
      }),
    rollback: (name, { version, signal } = {}) =>
      api.json({
        method: 'POST',
        path: `${path(name)}/rollback`,
        json: { version },
        // Without a version, a second rollback undoes the first one.
        isIdempotent: version !== undefined,
        signal,
      }),
    delete: async (name, { signal } = {}) =>
      void (await api.send({ method: 'DELETE', path: path(name), signal })),
  }
}

/** Where an alias is delivered. */
export interface AliasPlace {
  /** The address of the service. */
  baseUrl: string
  /** The public token of the client. */
  clientToken: string
  /** The type of its file. Default: `image`. */
  type?: ListedFile['mimeType']
}

/** The delivery URL of an alias: `buildUrl(aliasUrl('products/chair.jpg', { baseUrl, clientToken }), { w: 400 })`. */
export function aliasUrl(name: string, { baseUrl, clientToken, type = 'image' }: AliasPlace): string {
  return `${baseUrl.replace(/\/+$/, '')}/v1/${type}/alias/${clientToken}/${encodedPath(name)}`
}
