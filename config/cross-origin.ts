import { listOf } from './variable.ts'

/** The variables about pages of other origins. */
export const CROSS_ORIGIN_VARIABLES = {
  CORS_ORIGINS: listOf({
    item: isOrigin,
    expected: 'origins like https://app.example.com or http://localhost:5173, separated by spaces or commas',
    help: 'Origins whose pages may send requests with a secret or with signed cookies. No origin when unset: see docs/how-to/browser-apps.md.',
  }),
}

/** Whether the text is an origin as browsers send it: http or https, a host in lower case, no default port, and no path. */
function isOrigin(value: string): boolean {
  // A pattern would match no origin, since browsers send none with an asterisk.
  return /^https?:[^*]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value
}
