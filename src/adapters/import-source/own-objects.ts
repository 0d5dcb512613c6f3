import { classifyKey, isRecords } from '../../core/files/object-key.ts'
import { bucketAddress, type S3ConnectionOptions } from '../bucket/s3/client.ts'
import { normalPrefix, rootAround } from '../bucket/s3/root.ts'

/** A bucket, and how to connect to it. */
export interface S3Place extends S3ConnectionOptions {
  bucket: string
}

/** The bucket of the service itself, and the prefix of its objects. */
export interface OwnBucket extends S3Place {
  prefix: string
}

/** Whether the service has stored the object with this name, as an original, a derivative or a record. */
export type IsOwnObject = (name: string) => boolean

/** Recognizes the objects of the service in the source of an import. Other objects may be in the same bucket. */
export async function ownObjectsIn(source: S3Place, own: OwnBucket | undefined): Promise<IsOwnObject> {
  if (!own || (await addressOf(own)) !== (await addressOf(source))) return () => false
  const prefix = normalPrefix(own.prefix)
  return (name) => {
    const key = rootAround(name, prefix).keyOf(name)
    return key !== undefined && (isRecords(key.split('/')[0]) || classifyKey(key) !== undefined)
  }
}

/** The same for both styles of addresses. */
function addressOf(place: S3Place): Promise<string> {
  return bucketAddress(place.bucket, { ...place, forcePathStyle: true })
}
