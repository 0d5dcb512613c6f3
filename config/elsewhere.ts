import { integer, text } from './variable.ts'

/** Who sends the bytes of stored files, if not the service itself. */
export const ELSEWHERE_VARIABLES = {
  ACCEL_REDIRECT: text({
    pattern: /^(?:X-Sendfile|(?:\/[\w-][\w.-]*)+\/)$/,
    expected: 'a path of the front server like /internal/, or X-Sendfile',
    help: 'Internal path of nginx for the files of DATA_DIR/bucket, or X-Sendfile for Apache, lighttpd and Caddy. This server then sends the files above 32 KiB. Sluice sends all files when unset.',
  }),
  DELIVERY_REDIRECT_BYTES: integer({
    min: 1,
    unit: 'bytes',
    help: 'Size of the smallest file in S3 that is delivered by a redirect to a presigned URL of the bucket, or to S3_PUBLIC_URL. Sluice sends all files when unset.',
  }),
}
