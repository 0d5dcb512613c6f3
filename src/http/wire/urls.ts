import type { Client } from '../../core/clients/client.ts'
import { encodedPath, type ObjectKey, type OriginalName } from '../../core/files/object-key.ts'
import type { MediaGroup } from '../../core/media/groups.ts'

/** Where an original is delivered, without transformations. `baseUrl` without a slash at its end. */
export function deliveryUrl(
  { key, folder, format, sourceName }: OriginalName,
  { baseUrl, token }: { baseUrl: string } & Pick<Client, 'token'>,
): string {
  return `${baseUrl}/v1/${format.group}/upload/${token}/${folder ? encodedPath(key) : sourceName}`
}

/** Where it is told how the making of a derivative goes. */
export function jobUrl(
  key: ObjectKey,
  { baseUrl, token }: { baseUrl: string } & Pick<Client, 'token'>,
): string {
  return `${baseUrl}/v1/jobs/${token}/${encodedPath(key)}`
}

/** Where a stored derivative is delivered. */
export function derivativeUrl(
  key: ObjectKey,
  { baseUrl, token, group }: { baseUrl: string; group: MediaGroup } & Pick<Client, 'token'>,
): string {
  return `${baseUrl}/v1/${group}/upload/${token}/${encodedPath(key)}`
}

/** Where an object is delivered as it lies in the bucket. */
export function bucketUrl(
  key: ObjectKey,
  { baseUrl, token }: { baseUrl: string } & Pick<Client, 'token'>,
): string {
  return `${baseUrl}/v1/bucket/${token}/${encodedPath(key)}`
}
