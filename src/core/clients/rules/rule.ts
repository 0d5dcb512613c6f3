import { z } from 'zod'
import type { MediaGroup } from '../../media/groups.ts'
import { badParameter } from '../../problem.ts'

/** Everything about one rule of a client, except for the code that applies it to requests. */
export interface Rule<Stored, Change> extends RuleTexts {
  /** The schema of the value in the client's record. */
  stored: z.ZodType<Stored>
  /** The schema of a value that sets the rule. A value may have parts that `remove` accepts. */
  change(remove: z.ZodType<false>): z.ZodType<Change>
  /** The JSON values that set or remove the rule, for error messages. */
  expected: string
  /** Validates a change. @returns undefined when the change removes the rule @throws Problem 400 */
  apply(change: Change, context: RuleContext<Stored>): Stored | undefined
  /** Parses the argument of the option. @returns false when it removes the rule @throws Error for an invalid argument */
  parse(text: string, context: ParseContext<Change>): Change | false
  /** A short text about the rule, such as `widths 320, 640`; may be empty. */
  shown(value: Stored): string
}

/** The texts of a rule for operators. */
export interface RuleTexts {
  /** The option of `sluice client set`, for example `--signed-urls <on|off>`. */
  flags: string
  /** The description of the option. */
  help: string
  /** The row in docs/reference/client-rules.md, in Markdown: an example argument, a note about JSON, and the effect. */
  docs: { example: string; json?: string; effect: string }
}

/** Named sets of parameters as an operator writes them: values by parameter, by the preset's name. */
export type PresetSettings = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>

/** Limits for the values of rules. */
export interface RuleBounds {
  /** The maximum upload size of the installation, in bytes. */
  uploadMaxBytes: number
  /** The errors in presets, one line each. Each preset must be valid for this file type, by default for any. */
  wrongPresets(settings: PresetSettings, group?: MediaGroup): readonly string[]
}

export interface RuleContext<Stored> {
  /** The name of the rule, for error messages. */
  param: string
  /** The value before the change. */
  present: Stored | undefined
  bounds: RuleBounds
}

export interface ParseContext<Change> {
  /** The value of the same option earlier in the command. */
  before: Change | false | undefined
  /** Reads a JSON file. @throws Error */
  readJson(path: string): unknown
}

/** A rule that is on or off. */
export function switchRule({ shown, ...texts }: RuleTexts & { shown: string }): Rule<true, boolean> {
  return {
    ...texts,
    stored: z.literal(true),
    change: () => z.boolean(),
    expected: 'true, false or null',
    apply: (isOn) => isOn || undefined,
    parse: (text) => choice(text, { on: true, off: false }),
    shown: () => shown,
  }
}

/**
 * A rule with an integer from `min`, by default 1, to `max`, inclusive.
 *
 * @param options.unit the text after the bounds in error messages
 * @param options.parse the parser of the option; by default for a number or `default`
 */
export function integerRule({
  min = 1,
  max,
  unit = '',
  parse = numberOrDefault,
  shown,
  ...texts
}: RuleTexts & {
  min?: number
  max: number | ((bounds: RuleBounds) => number)
  unit?: string
  parse?: (text: string) => number | false
  shown: (value: number) => string
}): Rule<number, number> {
  return {
    ...texts,
    stored: z.int().min(min),
    change: () => z.number(),
    expected: 'an integer or null',
    apply(received, { param, bounds }) {
      const most = typeof max === 'number' ? max : max(bounds)
      if (isInteger(received, { min, max: most })) return received
      throw badParameter({ param, expected: `an integer from ${min} to ${most}${unit}`, received })
    },
    parse,
    shown,
  }
}

/** A number; false for `default`. @throws Error */
export function numberOrDefault(text: string): number | false {
  if (text === 'default') return false
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Error(`expected a number or default but received "${text}"`)
}

/** The value of the choice that the text names. @throws Error */
export function choice<T>(text: string, choices: Readonly<Record<string, T>>): T {
  if (Object.hasOwn(choices, text)) return choices[text] as T
  throw new Error(`expected ${Object.keys(choices).join(' or ')} but received "${text}"`)
}

/** Both bounds are inclusive. */
export function isInteger(value: number, { min, max }: { min: number; max: number }): boolean {
  return Number.isInteger(value) && value >= min && value <= max
}
