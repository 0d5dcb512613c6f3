import type { ImportItem, ImportSource, RefusedItem, S3Origin } from '../../core/imports/source.ts'
import { isMetadataAddress } from '../../core/net/ip-ranges.ts'
import { type S3Clients, type S3ConnectionOptions, s3Clients } from '../bucket/s3/client.ts'
import { download } from '../bucket/s3/download.ts'
import { listPage, type ObjectPage, type PageStart } from '../bucket/s3/list.ts'
import { type OwnBucket, ownObjectsIn } from './own-objects.ts'

// Stores other than Amazon's usually ignore the region, but the SDK needs one.
const ANY_REGION = 'us-east-1'

const IS_OWN = 'is in the bucket of the service itself, which has stored it'

/**
 * The objects below a prefix of a bucket. Names that end with "/" are folders of a console, and are ignored.
 *
 * @param options.ownBucket the service's own bucket. What the service has stored there is refused: an import would copy it
 */
export function s3Source(
  { bucket, prefix, endpoint, region, profile, credentials }: S3Origin,
  { ownBucket }: { ownBucket?: OwnBucket } = {},
): ImportSource {
  const connection: S3ConnectionOptions = {
    endpoint,
    region: region ?? (endpoint === undefined ? undefined : ANY_REGION),
    credentials: credentials && {
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: credentials.secretAccessKey,
      ...(credentials.sessionToken ? { sessionToken: credentials.sessionToken } : {}),
    },
    profile,
    forcePathStyle: endpoint !== undefined,
    isRefused: isMetadataAddress,
  }
  const clients = s3Clients(connection)
  // Names of files begin after the last folder of the prefix: `photos/2024-` imports `2024-05.jpg`.
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  return {
    async *items(signal) {
      const isOwn = await ownObjectsIn({ bucket, ...connection }, ownBucket)
      for await (const object of objects(clients, { bucket, prefix })) {
        signal.throwIfAborted()
        const item = itemOf(object, { clients, bucket, folder, place: endpoint ?? '' })
        if (item) yield isOwn(object.Key) ? { from: item.from, refused: IS_OWN } : item
      }
    },
  }
}

async function* objects(
  clients: S3Clients,
  place: { bucket: string; prefix: string },
): AsyncGenerator<ObjectPage['objects'][number]> {
  for (let from: PageStart | undefined = {}; from; ) {
    const page: ObjectPage = await listPage(clients, { ...place, from })
    yield* page.objects
    from = page.next
  }
}

function itemOf(
  { Key: name, Size: size, ETag, LastModified }: ObjectPage['objects'][number],
  { clients, bucket, folder, place }: { clients: S3Clients; bucket: string; folder: string; place: string },
): ImportItem | RefusedItem | undefined {
  const path = name.slice(folder.length)
  const segments = path.split('/')
  // Hidden files, as in a folder. A name that ends with "/" is a folder.
  if (name.endsWith('/') || segments.some((segment) => segment.startsWith('.'))) return undefined
  const version = ETag ?? `${LastModified?.getTime()}`
  return {
    from: `s3://${bucket}/${name}`,
    identity: `s3 ${place} ${bucket}/${name} ${version} ${size}`,
    name: segments.at(-1) ?? '',
    folder: segments.slice(0, -1).join('/'),
    annotations: { tags: [], metadata: {} },
    ...(size === undefined ? {} : { size }),
    content: {
      open(signal) {
        // A range is read only of the version that was listed: if the object was replaced, this fails.
        const isKnown = ETag !== undefined && size !== undefined && size > 0
        const version = isKnown ? { range: { start: 0, end: size - 1 } } : {}
        return download(clients, { bucket, name, etag: ETag, ...version, signal })
      },
    },
  }
}
