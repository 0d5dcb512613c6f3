import type { Rule, RuleBounds } from './rule.ts'
import { CLIENT_RULES, type ClientRules, RULE_NAMES, type RuleChanges } from './table.ts'

/** Applies changes to rules. @returns undefined when no rule is left @throws Problem 400 */
export function changedRules(
  present: ClientRules,
  changes: RuleChanges,
  bounds: RuleBounds,
): ClientRules | undefined {
  const rules = RULE_NAMES.flatMap((param) => {
    const rule: Rule<unknown, unknown> = CLIENT_RULES[param]
    const change = changes[param]
    const before = present[param]
    if (change === false) return []
    const after = change === undefined ? before : rule.apply(change, { param, present: before, bounds })
    return after === undefined ? [] : [[param, after]]
  })
  return rules.length > 0 ? Object.fromEntries(rules) : undefined
}
