import { listOf, text } from './variable.ts'

/** The services whose URLs can be delivered. */
const COMPAT_SERVICES = ['cloudinary', 'imgproxy', 'openinary', 'default-uploader'] as const

const HEX = /^([\da-f]{2}){1,256}$/i

/** The variables about URLs in the format of other services. */
export const COMPAT_VARIABLES = {
  COMPAT: listOf({
    item: (name) => COMPAT_SERVICES.some((one) => one === name),
    expected: `one or more of ${COMPAT_SERVICES.join(', ')}, separated by spaces or commas`,
    help: 'Services whose URLs are delivered below /compat/. No service when unset: see docs/how-to/move-from-other-services.md.',
  }),
  COMPAT_CLOUDINARY_SECRET: text({
    pattern: /^[\x21-\x7e]{8,256}$/,
    expected: '8 to 256 printable characters without spaces',
    secret: true,
    help: 'API secret of the Cloudinary account: verifies signatures in its URLs. Signatures are ignored when unset.',
  }),
  COMPAT_IMGPROXY_KEY: text({
    pattern: HEX,
    expected: 'an even number of hexadecimal digits',
    secret: true,
    help: 'IMGPROXY_KEY: verifies signatures in URLs of imgproxy, together with COMPAT_IMGPROXY_SALT. Signatures are ignored when unset.',
  }),
  COMPAT_IMGPROXY_SALT: text({
    pattern: HEX,
    expected: 'an even number of hexadecimal digits',
    secret: true,
    help: 'IMGPROXY_SALT: see COMPAT_IMGPROXY_KEY.',
  }),
  COMPAT_OPENINARY_SECRET: text({
    pattern: /^[\x21-\x7e]{16,256}$/,
    expected: '16 to 256 printable characters without spaces',
    secret: true,
    help: 'API_SECRET of openinary: verifies signatures in its URLs. Signatures are ignored when unset.',
  }),
}
