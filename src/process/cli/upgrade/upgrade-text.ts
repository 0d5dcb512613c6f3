import { counted } from '../../../core/text/plural.ts'
import { printable } from '../output.ts'
import { compareVersions } from './changelog.ts'
import type { UpgradeReport } from './upgrade.ts'

const WIDTH = 100

/** The report for a terminal. @param guide the path of the upgrade guide */
export function upgradeText(report: UpgradeReport, guide: string): string {
  const { from, to, steps, changes, commands } = report
  if (steps.length === 0 && changes.length === 0 && compareVersions(from, to) === 0)
    return printable(`${from} is up to date: nothing has changed.\n`)
  const parts = [
    `From ${from} to ${to}. This command changes nothing.`,
    steps.length === 0 ? 'No change needs a step of yours.' : titled('Needs a step of yours', steps),
    ...changes.map((group) => titled(group.title, group.changes)),
    `Commands\n\n${commands === '' ? `  See ${guide}` : commands.replace(/^(?=.)/gm, '  ')}`,
    `Way back\n\n${wrapped(wayBack(report), '  ')}`,
    `The guide is ${guide}`,
  ]
  return printable(`${parts.join('\n\n')}\n`)
}

/** One line for `--check`. */
export function checkText({ from, to, steps }: UpgradeReport): string {
  return printable(`From ${from} to ${to}: ${counted(steps.length, 'step')} of yours\n`)
}

function wayBack({ indexLayout: { from, to } }: UpgradeReport): string {
  if (from === to)
    return 'All data has the form of the former version. To go back, start the former version again.'
  return `With Redis, the index gets the layout ${to} instead of ${from}. The former version cannot read it, so the way back needs the steps of the guide, under "Go back". Without Redis, start the former version again.`
}

function titled(title: string, changes: readonly string[]): string {
  return `${title}\n\n${changes.map(listed).join('\n')}`
}

/** A change as an item of a list, with its own items below it. */
function listed(change: string): string {
  return change
    .split('\n')
    .map((line, i) => {
      const [mark, text] = i === 0 ? ['  - ', line] : ['    - ', line.replace(/^- /, '')]
      return mark + wrapped(plain(text), ' '.repeat(mark.length)).trimStart()
    })
    .join('\n')
}

/** Markdown without marks. A link to the guide shows its section. */
function plain(text: string): string {
  return text
    .replace(/\[([^\]]+)\]\(([^)]+)\)/g, (_, label: string, target: string) => {
      const [, section] = /upgrade\.md#(.+)$/.exec(target) ?? []
      return section === undefined ? label : `${label} (upgrade.md#${section})`
    })
    .replaceAll('**', '')
}

function wrapped(text: string, indent: string): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(indent + word)
  }
  return lines.join('\n')
}
