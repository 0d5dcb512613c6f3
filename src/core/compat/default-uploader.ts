import { isMediaGroup } from '../media/formats.ts'
import { routeNotFound } from '../url-problems.ts'
import type { CompatUrl } from './compat-url.ts'

/**
 * Reads `v1/<type>/upload/<their token>/<path>` with a query. Their parameters are ours: the pipeline checks them.
 *
 * @param segments of the path after our token, each decoded once
 * @throws Problem 404 for another path
 * @see https://docs.defaultuploader.com/api/transform/image
 */
export function readDefaultUploaderUrl(
  segments: readonly string[],
  query: Iterable<readonly [name: string, value: string]>,
): CompatUrl {
  const [version, group = '', route, token, ...path] = segments
  if (version !== 'v1' || route !== 'upload' || !token || path.length === 0 || !isMediaGroup(group))
    throw routeNotFound()
  const name = path.join('/')
  const extension = /\.(\w+)$/.exec(name)?.[1]
  // Their URLs may name a file without the folders of its key: `image/png/<name>`.
  const names = path.length > 1 || extension === undefined ? [name] : [name, `${group}/${extension}/${name}`]
  return {
    group,
    source: { names: names.map((one) => ({ name: one })) },
    query: new Map(query),
    isSigned: false,
  }
}
