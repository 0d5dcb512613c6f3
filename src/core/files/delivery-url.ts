import { encodedPath, type OriginalName } from './object-key.ts'

/** The delivery URL of an original, without transformations. `baseUrl` has no trailing slash. */
export function deliveryUrl(
  { key, folder, format, sourceName }: OriginalName,
  { baseUrl, token }: { baseUrl: string; token: string },
): string {
  return `${baseUrl}/v1/${format.group}/upload/${token}/${folder ? encodedPath(key) : sourceName}`
}
