import { GetObjectCommand } from '@aws-sdk/client-s3'
import type { Asset } from '../../../../core/bytes/asset.ts'
import type { S3Clients } from '../client.ts'

// A video player requests more of a file at the same URL while it plays.
const LIFETIME_MS = 3_600_000
// In this time, each request for a file receives the same URL, so that browsers find the file in their caches.
const SAME_FOR_MS = 600_000
// A clock that is ahead of that of S3 by more than this time would make new URLs invalid.
const CLOCK_MS = 60_000

/**
 * Creates URLs of an object: `publicUrl` where that is allowed and the response has no headers of its own, else presigned URLs. A
 * presigned URL works for at most an hour, and not longer than the credentials that signed it.
 */
export function objectUrl(
  { signer }: S3Clients,
  { bucket, name, publicUrl }: { bucket: string; name: string; publicUrl: string | undefined },
): NonNullable<Asset['urlFor']> {
  return async ({ until: latest = Number.POSITIVE_INFINITY, headers, mayBePublic }) => {
    const { cacheControl, contentType, contentDisposition } = headers
    if (publicUrl !== undefined && mayBePublic && contentDisposition === undefined) return { url: publicUrl }
    // Loaded on first use: most installations sign no URLs.
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
    const { expiration } = await signer.config.credentials()
    const signedAt = Math.floor((Date.now() - CLOCK_MS) / SAME_FOR_MS) * SAME_FOR_MS
    const until = Math.min(latest, expiration?.getTime() ?? latest, signedAt + LIFETIME_MS)
    const expiresIn = Math.max(1, Math.floor((until - signedAt) / 1000))
    const command = new GetObjectCommand({
      Bucket: bucket,
      Key: name,
      ResponseCacheControl: cacheControl,
      ResponseContentType: contentType,
      ResponseContentDisposition: contentDisposition,
    })
    const url = await getSignedUrl(signer, command, { expiresIn, signingDate: new Date(signedAt) })
    return { url, until: signedAt + 1000 * expiresIn }
  }
}
