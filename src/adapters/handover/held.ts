import { Problem, retryAfter } from '../../core/problem.ts'

/** 423: the holder was notified, but did not release it in time. */
export function heldByAnother(): Problem {
  return new Problem({
    status: 423,
    code: 'held_by_another',
    detail: 'another request is working on this and has not ended yet; try again',
    ...retryAfter(2),
  })
}
