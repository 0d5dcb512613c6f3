import { writeFileSync } from 'node:fs'
import Mocha from 'mocha'

/** The usual report, and the totals as JSON in the file that the reporter option `totals` names. */
// biome-ignore lint/style/noDefaultExport: mocha takes a reporter from the default export
export default class TotalsReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    runner.once('end', () => writeFileSync(options.reporterOption.totals, JSON.stringify(this.stats)))
  }
}
