import type { Checkup } from '../../core/checkup.ts'
import { counted } from '../../core/text/plural.ts'
import { printable } from './output.ts'

const NAME_WIDTH = 13
const STATE_WIDTH = 7

/** The line of a check, and a second line with the advice. */
export function checkupText({ name, state, found, advice }: Checkup): string {
  const line = `${state.padEnd(STATE_WIDTH)}  ${name.padEnd(NAME_WIDTH)}  ${found}\n`
  const indent = ' '.repeat(STATE_WIDTH + NAME_WIDTH + 4)
  return printable(advice === undefined ? line : `${line}${indent}${advice}\n`)
}

/** `No problems, 2 warnings`, at the end. */
export function summaryText(checkups: readonly Checkup[]): string {
  const { problems, warnings } = summaryOf(checkups)
  const text = `${problems === 0 ? 'No problems' : counted(problems, 'problem')}, ${counted(warnings, 'warning')}`
  return `\n${text}\n`
}

/** The number of checks with each state, also for `--json`. */
export function summaryOf(checkups: readonly Checkup[]) {
  const count = (wanted: Checkup['state']) => checkups.filter(({ state }) => state === wanted).length
  return { ok: count('ok'), warnings: count('warning'), problems: count('problem') }
}
