import type { ClientRules } from '../core/client.ts'
import { badParameter } from '../core/problem.ts'

/** What an operator says of a client's rules: one that is absent stays as it is, `false` ends it. */
export interface RuleChanges {
  signedUrls?: boolean | undefined
  presetsOnly?: boolean | undefined
  /** In any order. */
  allowedWidths?: readonly number[] | false | undefined
  variantLimit?: number | false | undefined
}

// As `w` takes.
const WIDTH_MAX = 5000
// One is looked for in them at each request.
const WIDTHS_MAX = 100
// As VARIANT_LIMIT takes.
const VARIANTS_MAX = 1_000_000

/** The rules after a change; undefined when none is left. @throws Problem 400 */
export function changedRules(
  { signedUrls, presetsOnly, allowedWidths, variantLimit }: ClientRules,
  changes: RuleChanges,
): ClientRules | undefined {
  const signed = changes.signedUrls === undefined ? signedUrls : changes.signedUrls
  const only = changes.presetsOnly === undefined ? presetsOnly : changes.presetsOnly
  const widths = changes.allowedWidths === undefined ? allowedWidths : checkedWidths(changes.allowedWidths)
  const limit = changes.variantLimit === undefined ? variantLimit : checkedLimit(changes.variantLimit)
  const rules: ClientRules = {
    ...(signed ? { signedUrls: true } : {}),
    ...(only ? { presetsOnly: true } : {}),
    ...(widths ? { allowedWidths: widths } : {}),
    ...(limit ? { variantLimit: limit } : {}),
  }
  return Object.keys(rules).length > 0 ? rules : undefined
}

function checkedWidths(received: readonly number[] | false): readonly number[] | false {
  if (received === false) return false
  const widths = [...new Set(received)].sort((a, b) => a - b)
  const fits = widths.every((width) => isIntegerUpTo(WIDTH_MAX, width))
  if (fits && widths.length > 0 && widths.length <= WIDTHS_MAX) return widths
  const expected = `1 to ${WIDTHS_MAX} integers from 1 to ${WIDTH_MAX} px`
  throw badParameter({ param: 'allowedWidths', expected, received })
}

function checkedLimit(received: number | false): number | false {
  if (received === false || isIntegerUpTo(VARIANTS_MAX, received)) return received
  const expected = `an integer from 1 to ${VARIANTS_MAX}`
  throw badParameter({ param: 'variantLimit', expected, received })
}

function isIntegerUpTo(max: number, value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= max
}
