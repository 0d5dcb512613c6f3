import type { Config } from '../../../config/load.ts'
import type { CorsRule } from '../../adapters/bucket/s3/presigned/cors.ts'
import type { Finding } from '../../core/checkup.ts'
import { s3Options } from '../settings.ts'

/** The headers of the requests of direct uploads. */
const HEADERS = ['content-type']

/**
 * Checks whether pages may send direct uploads to the bucket. Other programs need no CORS. So a missing rule is only a warning when
 * the settings are those of an installation whose pages upload: they have origins, or an endpoint for clients.
 */
export async function checkBucketCors(config: Config, bucket: string): Promise<Finding[]> {
  const { CORS_ORIGINS: origins = [], S3_DIRECT_ENDPOINT: endpoint } = config
  let rules: CorsRule[]
  try {
    const { corsRules } = await import('../../adapters/bucket/s3/presigned/cors.ts')
    rules = await corsRules(bucket, s3Options(bucket, config))
  } catch (error) {
    return [{ state: 'ok', found: `its CORS rules could not be read (${(error as Error).name})` }]
  }
  const lacking = (origins.length > 0 ? origins : [undefined]).filter((origin) => !permits(rules, origin))
  if (lacking.length === 0) return [{ state: 'ok', found: 'its CORS rules let pages upload directly' }]
  const named = lacking.filter((origin) => origin !== undefined)
  const found = `no CORS rule lets pages${named.length > 0 ? ` of ${named.join(', ')}` : ''} upload directly`
  if (origins.length === 0 && endpoint === undefined) return [{ state: 'ok', found }]
  const rule = {
    AllowedMethods: ['PUT'],
    AllowedOrigins: origins.length > 0 ? origins : ['*'],
    AllowedHeaders: HEADERS,
    MaxAgeSeconds: 3600,
  }
  const advice = `For direct uploads of pages, add this rule. The command replaces all rules: aws s3api put-bucket-cors --bucket ${bucket} --cors-configuration '${JSON.stringify({ CORSRules: [rule] })}'`
  return [{ state: 'warning', found, advice }]
}

/** @param origin undefined: any */
function permits(rules: readonly CorsRule[], origin: string | undefined): boolean {
  return rules.some(
    ({ methods, headers, origins }) =>
      methods.includes('PUT') &&
      HEADERS.every((header) => matches(headers, header)) &&
      (origin === undefined || matches(origins, origin)),
  )
}

function matches(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => {
    const [start = '', end] = pattern.split('*')
    if (end === undefined) return pattern === text
    return text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end)
  })
}
