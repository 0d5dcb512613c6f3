import { z } from 'zod'
import { CLIENT_RULES, RULE_NAMES, type RuleChanges, type RuleName } from './table.ts'

type StoredShape = { [N in RuleName]: z.ZodOptional<(typeof CLIENT_RULES)[N]['stored']> }
type ChangeShape = { [N in RuleName]: z.ZodOptional<z.ZodType<Exclude<RuleChanges[N], undefined>>> }

/** The members of a client's record for its rules. */
export const STORED_RULES = shapeOf(({ stored, help }) => stored.describe(help).optional()) as StoredShape

/** The members of a request that changes rules. `remove`: the value that removes a rule. */
export function ruleChanges(remove: z.ZodType<false>): ChangeShape {
  return shapeOf(({ change, expected, help }) =>
    z
      .union([change(remove), remove], expected)
      .describe(help)
      .optional(),
  ) as ChangeShape
}

function shapeOf(schemaOf: (rule: (typeof CLIENT_RULES)[RuleName]) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(RULE_NAMES.map((name) => [name, schemaOf(CLIENT_RULES[name])]))
}
