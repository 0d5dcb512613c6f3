import { resolve } from 'node:path'
import { failureText } from '../output.ts'
import { ownPackage } from '../own-package.ts'
import { guideOf, upgradeReport } from './upgrade.ts'
import { STEPS_NEEDED, type UpgradeArguments } from './upgrade-command.ts'
import { checkText, upgradeText } from './upgrade-text.ts'

/** Prints what an upgrade to this version means. @returns the exit code */
export function runUpgrade(
  folder: string,
  { from, check, json }: UpgradeArguments,
  { write, writeError }: Record<'write' | 'writeError', (text: string) => void>,
): number {
  try {
    const own = ownPackage()
    const report = upgradeReport(resolve(folder), { own, from })
    if (json) write(`${JSON.stringify(report)}\n`)
    else write(check ? checkText(report) : upgradeText(report, guideOf(own)))
    return check && report.steps.length > 0 ? STEPS_NEEDED : 0
  } catch (error) {
    writeError(`sluice: ${failureText(error as Error)}\n`)
    return 1
  }
}
