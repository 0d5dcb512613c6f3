import { isLimitProblem } from '../../core/limit-problems.ts'
import { noOriginalFallback } from './concealing.ts'
import type { Plan } from './plan.ts'

/** What happens when a transformation exceeds a limit: an error, or the unmodified file. */
export type OnLimit = 'refuse' | 'original'

/**
 * Renders a plan. When it exceeds a limit, the result is the unmodified file with the code of the limit, if `onLimit` permits that and the
 * plan marks or hides nothing in the image.
 *
 * @param unmodified called only then
 * @throws the error of `render` in all other cases
 */
export async function orUnmodified<R, U extends object>(
  { planned, onLimit }: { planned: Plan; onLimit: OnLimit },
  render: () => Promise<R>,
  unmodified: () => Promise<U>,
): Promise<R | (U & { notes: readonly string[]; fallbackReason: string })> {
  try {
    return await render()
  } catch (error) {
    if (onLimit === 'refuse' || !isLimitProblem(error) || noOriginalFallback(planned)) throw error
    return { ...(await unmodified()), notes: [], fallbackReason: error.code }
  }
}
