import { Problem } from '../../core/problem.ts'

/** 423: the holder has been asked, and goes on. */
export function heldByAnother(): Problem {
  const retryAfterSeconds = 2
  return new Problem({
    status: 423,
    code: 'held_by_another',
    detail: 'another request is working on this and has not ended yet; try again',
    members: { retryAfterSeconds },
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}
