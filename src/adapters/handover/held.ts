import { Problem, retryAfter } from '../../core/problem.ts'

/** 423: the holder has been asked, and goes on. */
export function heldByAnother(): Problem {
  return new Problem({
    status: 423,
    code: 'held_by_another',
    detail: 'This upload is locked by another request. Try again.',
    ...retryAfter(2),
  })
}
