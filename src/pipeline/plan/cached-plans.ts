import type { ClientRules } from '../../core/clients/rules/table.ts'
import { Problem, type ProblemJson } from '../../core/problem.ts'
import type { Plan, Planner } from './plan.ts'

// About 3 MB: a plan with its key takes up to 3 KB. The oldest one is removed first.
const PLANS_AT_MOST = 1000
const KEY_LENGTH_AT_MOST = 500

const NO_RULES: ClientRules = {}

/** A refusal is plain data: an error keeps its stack with everything in it alive, the request too. */
type Attempt = { plan: Plan } | { refusal: ProblemJson }

/**
 * The same planner, which remembers its last plans and its refusals of queries: a plan takes 15 µs. A plan depends on the query, the
 * format, the preferences and the rules of the client alone. Changed rules are another object, so their former plans are not found.
 */
export function cachedPlans(plan: Planner): Planner {
  const known = new Map<string, Attempt>()
  const idsOfRules = new WeakMap<ClientRules, number>()
  let lastId = 0

  function idOf(rules: ClientRules): number {
    const id = idsOfRules.get(rules) ?? ++lastId
    idsOfRules.set(rules, id)
    return id
  }

  function attempt(input: Parameters<Planner>[0]): Attempt {
    try {
      return { plan: plan(input) }
    } catch (error) {
      if (error instanceof Problem) return { refusal: error.toJSON() }
      throw error
    }
  }

  return (input) => {
    // Few plans depend on these.
    if (input.focalPoint || input.size || input.tooSmall) return plan(input)
    const query = [...input.query]
    const { format, preferences, rules = NO_RULES } = input
    const key = JSON.stringify([idOf(rules), format.group, format.name, preferences, query])
    const cached = known.get(key)
    const isRemembered = cached === undefined && key.length <= KEY_LENGTH_AT_MOST
    // Texts of its own: a part of a URL would hold the whole of it in memory, with parameters that are ignored.
    const made = cached ?? attempt({ ...input, query: isRemembered ? JSON.parse(key).at(-1) : query })
    if (isRemembered) {
      const [oldest] = known.keys()
      if (known.size >= PLANS_AT_MOST && oldest !== undefined) known.delete(oldest)
      known.set(key, made)
    }
    if ('refusal' in made) throw Problem.fromJSON(made.refusal)
    return made.plan
  }
}
