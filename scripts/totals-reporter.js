import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import Mocha from 'mocha'

const told = (test, error) => ({ title: test.fullTitle(), message: String(error?.message) })

// What the last tests have begun ends within this time, if it ends at all.
const LINGER_MS = 30_000

/**
 * The usual report, and as JSON in the file that the reporter option `totals` names: the totals, what failed, what
 * passed only at its second try, the seconds that each file took, hooks included, the slowest first, and what was left open
 * and would have kept the process from its end.
 */
// biome-ignore lint/style/noDefaultExport: mocha takes a reporter from the default export
export default class TotalsReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    const retried = []
    runner.on('retry', (test, error) => retried.push(told(test, error)))
    const milliseconds = new Map()
    let since = Date.now()
    const count = ({ file = 'none' }) => {
      const now = Date.now()
      milliseconds.set(file, (milliseconds.get(file) ?? 0) + now - since)
      since = now
    }
    runner.on('hook end', count).on('test end', count).on('suite end', count)
    runner.once('end', () => {
      const failed = this.failures.map((test) => told(test, test.err))
      const titles = new Set(failed.map(({ title }) => title))
      const unsteady = retried.filter(({ title }) => !titles.has(title))
      const files = [...milliseconds]
        .map(([file, time]) => ({ file: relative('', file), seconds: Math.round(time / 1000) }))
        .sort((one, other) => other.seconds - one.seconds)
      const write = (leftOpen) =>
        writeFileSync(
          options.reporterOption.totals,
          JSON.stringify({ ...this.stats, failed, unsteady, files, leftOpen }),
        )
      write([])
      setTimeout(() => {
        write(process.getActiveResourcesInfo())
        process.exit()
      }, LINGER_MS).unref()
    })
  }
}
