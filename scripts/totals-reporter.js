import { writeFileSync } from 'node:fs'
import Mocha from 'mocha'

const told = (test, error) => ({ title: test.fullTitle(), message: String(error?.message) })

/**
 * The usual report, and as JSON in the file that the reporter option `totals` names: the totals, what failed, and what
 * passed only at its second try.
 */
// biome-ignore lint/style/noDefaultExport: mocha takes a reporter from the default export
export default class TotalsReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    const retried = []
    runner.on('retry', (test, error) => retried.push(told(test, error)))
    runner.once('end', () => {
      const failed = this.failures.map((test) => told(test, test.err))
      const titles = new Set(failed.map(({ title }) => title))
      const unsteady = retried.filter(({ title }) => !titles.has(title))
      writeFileSync(options.reporterOption.totals, JSON.stringify({ ...this.stats, failed, unsteady }))
    })
  }
}
