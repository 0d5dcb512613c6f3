import { Problem, retryAfter } from '../../core/problem.ts'

/** 423: the holder was notified, but did not release it in time. */
export function heldByAnother(): Problem {
  return new Problem({
    status: 423,
    code: 'held_by_another',
    detail: 'This upload is locked by another request. Try again.',
    ...retryAfter(2),
  })
}
