import { createHmac } from 'node:crypto'
import { sha256 } from '../../src/core/bytes/digest.ts'

/** A request to an API of AWS, which has no query. */
export interface AwsRequest {
  url: string
  method: string
  headers: Readonly<Record<string, string>>
  body: string
}

/**
 * The headers of a request, with a signature. The S3 SDK has a signer, but in an internal package that may change.
 *
 * @param options.now in milliseconds since 1970
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function signedForAws(
  { url, method, headers, body }: AwsRequest,
  {
    accessKeyId,
    secretAccessKey,
    region,
    service,
    now = Date.now(),
  }: { accessKeyId: string; secretAccessKey: string; region: string; service: string; now?: number },
): Record<string, string> {
  const { host, pathname } = new URL(url)
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const date = time.slice(0, 8)
  const signed: Record<string, string> = {
    ...headers,
    host,
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': time,
  }
  const names = Object.keys(signed).sort()
  const list = names.join(';')
  const canonical = [
    method,
    pathname,
    '',
    ...names.map((name) => `${name}:${signed[name]}`),
    '',
    list,
    sha256(body),
  ]
  const scope = `${date}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical.join('\n'))].join('\n')
  let key: string | Buffer = `AWS4${secretAccessKey}`
  for (const part of [date, region, service, 'aws4_request']) key = hmac(key, part)
  const signature = createHmac('sha256', key).update(text).digest('hex')
  const credential = `Credential=${accessKeyId}/${scope}`
  const { host: _, ...sent } = signed
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${list}, Signature=${signature}`,
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
