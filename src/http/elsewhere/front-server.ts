import type { IncomingMessage } from 'node:http'
import { sep } from 'node:path'
import type { Asset, ByteRange } from '../../core/bytes/asset.ts'
import { encodedPath } from '../../core/files/object-key.ts'

/** A server in front of this one, which can read the files of the disk. */
export interface FrontServer {
  /** The response header in which it expects the location of a file. */
  header: 'X-Accel-Redirect' | 'X-Sendfile'
  /** Whether a complete file has a `Content-Range`, which the front server would not send. */
  onlyForRanges: boolean
  /** The location of a file, for the header; undefined for a file that it may not find. @param file an absolute path */
  locationOf(file: string): string | undefined
}

/**
 * @param form a path of the front server that ends with a slash, for `X-Accel-Redirect`; or `X-Sendfile`, for absolute paths of the disk
 * @param options.folder the absolute path of the folder with the files
 */
export function frontServer(
  form: string,
  { folder, onlyForRanges }: { folder: string; onlyForRanges: boolean },
): FrontServer {
  const root = folder + sep
  const isSendfile = form === 'X-Sendfile'
  return {
    header: isSendfile ? 'X-Sendfile' : 'X-Accel-Redirect',
    onlyForRanges,
    locationOf(file) {
      if (!file.startsWith(root)) return undefined
      if (!isSendfile) return form + encodedPath(file.slice(root.length))
      // lighttpd decodes the path, mod_xsendfile 0.12 does not: they agree on paths that are the same in both forms.
      return encodedPath(file) === file ? file : undefined
    },
  }
}

// For a smaller file, the second look at the disk costs more than to pass the bytes on from memory. Behind nginx, they cost the same
// at 15 kB; a file of 200 kB takes a third of the CPU time when nginx reads it.
const MIN_BYTES = 32 * 1024
// The proxy adds this header, as for other services, so that a request past the proxy never gets an empty response.
const PERMISSION = 'x-sendfile-type'

/** Whether the front server can read the file, and it is large enough that this saves time. */
export function isForFront(
  { locationOf }: FrontServer,
  { file, size }: Pick<Asset, 'file' | 'size'>,
): boolean {
  return file !== undefined && size > MIN_BYTES && locationOf(file) !== undefined
}

/** The header with which the front server sends the file; undefined when this service has to send it. */
export function frontLocation(
  { header, onlyForRanges, locationOf }: FrontServer,
  { headers }: IncomingMessage,
  { asset: { file, size }, ranges }: { asset: Asset; ranges?: readonly ByteRange[] | undefined },
): [name: string, location: string] | undefined {
  if (file === undefined || size <= MIN_BYTES) return undefined
  if (String(headers[PERMISSION]).toLowerCase() !== header.toLowerCase()) return undefined
  if (onlyForRanges && !ranges) return undefined
  const location = locationOf(file)
  return location === undefined ? undefined : [header, location]
}
