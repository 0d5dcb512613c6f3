/** The names of the rate limits, as headers show them. Each limit is counted separately. */
export const LIMIT_NAMES = [
  'upload',
  'derivative',
  'cpu',
  'fetch',
  'media',
  'sign',
  'zip',
  'webhook',
  'sign_in',
] as const

export type LimitName = (typeof LIMIT_NAMES)[number]

/** The limits that a client's rules may change. Sign-in has no client. */
export const CLIENT_LIMIT_NAMES = LIMIT_NAMES.filter((name) => name !== 'sign_in')

export type ClientLimitName = (typeof CLIENT_LIMIT_NAMES)[number]
