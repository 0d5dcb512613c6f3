import { writeFileSync } from 'node:fs'
import Mocha from 'mocha'

/** The usual report, and as JSON in the file that the reporter option `totals` names: the totals, and what failed. */
// biome-ignore lint/style/noDefaultExport: mocha takes a reporter from the default export
export default class TotalsReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    runner.once('end', () => {
      const failed = this.failures.map((test) => ({
        title: test.fullTitle(),
        message: String(test.err?.message),
      }))
      writeFileSync(options.reporterOption.totals, JSON.stringify({ ...this.stats, failed }))
    })
  }
}
