import { DeleteBucketCorsCommand, PutBucketCorsCommand } from '@aws-sdk/client-s3'
import { s3Env } from './on-s3.ts'
import { s3Server } from './s3-server.ts'

/** Sets the documented CORS rule of the bucket that all services share. @returns a function that removes it */
export async function allowOrigin(origin: string): Promise<() => Promise<unknown>> {
  const { client } = await s3Server()
  const { S3_BUCKET: Bucket } = await s3Env('')
  const rule = {
    AllowedMethods: ['PUT'],
    AllowedOrigins: [origin],
    AllowedHeaders: ['content-type'],
    MaxAgeSeconds: 3600,
  }
  await client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } }))
  return () => client.send(new DeleteBucketCorsCommand({ Bucket }))
}
