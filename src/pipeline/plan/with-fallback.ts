import { tooSmallFormat } from '../../core/transform-problems.ts'
import type { Plan, PlanInput, Planner } from './plan.ts'

/**
 * Renders a plan. When its format cannot hold an image of this size, it renders the plan for the next format instead.
 *
 * @param first the plan of `input`
 * @param render called once for each plan; `isFallback` from the second one on
 * @throws the error of `render` if it has another cause, or if the format was requested by name or no other format is left
 */
export async function withFallback<T>(
  plan: Planner,
  { plan: first, input: firstInput }: { plan: Plan; input: PlanInput },
  render: (plan: Plan, options: { isFallback: boolean }) => Promise<T>,
): Promise<T> {
  let [planned, input] = [first, firstInput]
  for (;;) {
    try {
      return await render(planned, { isFallback: planned !== first })
    } catch (error) {
      const format = tooSmallFormat(error)
      if (format === undefined) throw error
      input = { ...input, tooSmall: [...(input.tooSmall ?? []), format] }
      const other = plan(input)
      if (other.variant === planned.variant) throw error
      planned = other
    }
  }
}
