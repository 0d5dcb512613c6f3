import type { Client } from '../../core/clients/client.ts'
import { encodedPath, type ObjectKey } from '../../core/files/object-key.ts'
import type { MediaGroup } from '../../core/media/groups.ts'

/** The URL of a media job's status. */
export function jobUrl(
  key: ObjectKey,
  { baseUrl, token }: { baseUrl: string } & Pick<Client, 'token'>,
): string {
  return `${baseUrl}/v1/jobs/${token}/${encodedPath(key)}`
}

/** The delivery URL of a stored derivative. */
export function derivativeUrl(
  key: ObjectKey,
  { baseUrl, token, group }: { baseUrl: string; group: MediaGroup } & Pick<Client, 'token'>,
): string {
  return `${baseUrl}/v1/${group}/upload/${token}/${encodedPath(key)}`
}

/** The URL of an object in the bucket, delivered unchanged. */
export function bucketUrl(
  key: ObjectKey,
  { baseUrl, token }: { baseUrl: string } & Pick<Client, 'token'>,
): string {
  return `${baseUrl}/v1/bucket/${token}/${encodedPath(key)}`
}
