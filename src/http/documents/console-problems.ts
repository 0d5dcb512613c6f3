import { ADMIN, JSON_BODY, type ProblemName, QUERY } from './problem-groups.ts'

const OWN_SESSION: readonly ProblemName[] = ['401 not_signed_in', '403 cross_site']
const ONE_MEMBER: readonly ProblemName[] = [...ADMIN, '404 member_not_found', '409 last_owner']

/** The problems of endpoints about sessions and members of the console. See `ENDPOINT_PROBLEMS`. */
export const CONSOLE_PROBLEMS: Readonly<Record<string, readonly ProblemName[]>> = {
  'POST /v1/session': [
    ...JSON_BODY,
    '401 wrong_password',
    '403 cross_site',
    '403 sign_in_off',
    '429 rate_limited',
  ],
  'GET /v1/session': OWN_SESSION,
  'PATCH /v1/session': [
    ...OWN_SESSION,
    ...JSON_BODY,
    '403 wrong_password',
    '404 member_not_found',
    '409 operator_session',
    '429 rate_limited',
  ],
  'DELETE /v1/session': [...OWN_SESSION, ...QUERY],
  'POST /v1/session/link': [...JSON_BODY, '403 cross_site', '410 link_expired'],
  'PUT /v1/session/link': [...JSON_BODY, '403 cross_site', '410 link_expired'],
  'GET /v1/members': ADMIN,
  'POST /v1/members': [...ADMIN, ...JSON_BODY, '409 email_taken', '409 too_many_members'],
  'PATCH /v1/members/:id': [...ONE_MEMBER, ...JSON_BODY],
  'DELETE /v1/members/:id': ONE_MEMBER,
  'POST /v1/members/:id/link': [...ADMIN, '404 member_not_found'],
}
