import { signIn } from '../../admin/sign-in.ts'
import { adminSession } from '../../wire/sign-in.ts'
import type { Endpoint } from '../endpoint.ts'

/** Sign-in of the operator. */
export const SIGN_IN: readonly Endpoint[] = [
  {
    route: 'POST /v1/sign-in',
    id: 'signIn',
    tag: 'Clients',
    summary: 'Exchange the password of the operator for a token',
    access: 'public',
    body: { 'application/json': { schema: signIn } },
    responses: {
      200: {
        description: 'The session.',
        content: { 'application/json': { schema: adminSession } },
        headers: ['Cache-Control', 'RateLimit', 'RateLimit-Policy'],
      },
    },
    isRateLimited: true,
    examples: [
      {
        id: 'wrong',
        summary: 'A wrong password',
        body: { password: 'not the password' },
        status: 401,
      },
    ],
  },
]
