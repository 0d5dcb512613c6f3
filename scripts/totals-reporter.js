import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import Mocha from 'mocha'

const told = (test, error) => ({ title: test.fullTitle(), message: String(error?.message) })

// Time for resources of the last tests to close.
const LINGER_MS = 30_000

/**
 * The Spec report. In addition, it writes JSON to the file in the reporter option `totals`: the totals, the failed
 * tests, the tests that passed only at the second attempt, the seconds per file including hooks (slowest first), and
 * open resources that would have kept the process alive.
 */
// biome-ignore lint/style/noDefaultExport: mocha loads a reporter from the default export
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
