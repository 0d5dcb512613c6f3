/** The limits, each counted apart from the others, by what they are of; so they are called in headers. */
export const LIMIT_NAMES = [
  'upload',
  'derivative',
  'cpu',
  'fetch',
  'media',
  'sign',
  'zip',
  'sign_in',
] as const

export type LimitName = (typeof LIMIT_NAMES)[number]

/** Those that a client may have a number of its own for: nobody signs in as a client. */
export const CLIENT_LIMIT_NAMES = LIMIT_NAMES.filter((name) => name !== 'sign_in')

export type ClientLimitName = (typeof CLIENT_LIMIT_NAMES)[number]
