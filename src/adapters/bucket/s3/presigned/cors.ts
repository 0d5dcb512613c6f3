import { GetBucketCorsCommand, S3Client } from '@aws-sdk/client-s3'
import { clientConfig, type S3ConnectionOptions } from '../client.ts'

/** A CORS rule of a bucket. */
export interface CorsRule {
  /** Each may have one `*`. */
  origins: readonly string[]
  methods: readonly string[]
  /** In lower case; each may have one `*`. */
  headers: readonly string[]
}

/** The CORS rules of a bucket. Empty when it has none. @throws the error of S3, also without the right to read them */
export async function corsRules(bucket: string, options: S3ConnectionOptions): Promise<CorsRule[]> {
  const client = new S3Client({ ...clientConfig(options), maxAttempts: 1 })
  try {
    const { CORSRules = [] } = await client.send(new GetBucketCorsCommand({ Bucket: bucket }), {
      abortSignal: AbortSignal.timeout(ANSWER_MS),
    })
    return CORSRules.map(({ AllowedOrigins = [], AllowedMethods = [], AllowedHeaders = [] }) => ({
      origins: AllowedOrigins,
      methods: AllowedMethods,
      headers: AllowedHeaders.map((header) => header.toLowerCase()),
    }))
  } catch (error) {
    if ((error as Error).name === 'NoSuchCORSConfiguration') return []
    throw error
  } finally {
    client.destroy()
  }
}

const ANSWER_MS = 5000
