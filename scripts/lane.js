import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import Mocha from 'mocha'

/**
 * The process of a lane, see lanes.js: runs each test file that it receives in a mocha of its own, and sends the result. The
 * servers that files share run until the end: test/support/servers/at-end.ts registers their shutdown here.
 */

// The time limits in the tests are for a usual machine, and a single lane. How much slower this machine is follows from lanes.js.
const PATIENCE = 3 * Number(process.env.SLUICE_TEST_SLOWNESS ?? 1)

// The time for work that the last tests have started to end.
const LINGER_MS = 30_000

/** How many resources of each kind keep this process alive: at its start, and after each file. */
const seen = [{ open: countOpen() }]

const { loadOptions } = createRequire(import.meta.url)('mocha/lib/cli/options.cjs')
const options = { ...loadOptions(process.argv.slice(2)), forbidOnly: true }
const ends = []
globalThis[Symbol.for('sluice.lane')] = { atEnd: (end) => ends.push(end) }

// As in mocha's own command: an unhandled rejection fails the test that runs.
process.on('unhandledRejection', (reason) => {
  throw reason
})
// When the parent process has exited, the results are not read.
process.on('disconnect', () => process.exit(1))
process.on('message', async ({ file, end }) => {
  if (end) return close()
  process.send({ result: await run(file) })
})

async function run(file) {
  const since = Date.now()
  const cpuSince = cpuSeconds()
  const mocha = new Mocha(options)
  mocha.addFile(resolve(file))
  await mocha.loadFilesAsync()
  extendLimits(mocha.suite)
  const failed = []
  const runner = await new Promise((done) => {
    const running = mocha.run(() => done(running))
    running.on('fail', (test, error) =>
      failed.push({ title: test.fullTitle(), message: String(error?.message) }),
    )
  })
  seen.push({ file, open: countOpen() })
  // Else its listener of the process stays, and each listener calls all others: the time doubles with each file.
  runner.dispose()
  const { passes, failures, pending } = runner.stats
  const seconds = Math.round((Date.now() - since) / 1000)
  return { passes, failures, pending, failed, seconds, cpuSeconds: cpuSeconds() - cpuSince }
}

/** The CPU time so far, in seconds: of this process and of its child processes that have exited, where the system counts those (Linux). */
function cpuSeconds() {
  const { user, system } = process.cpuUsage()
  let ofChildren = 0
  try {
    // proc(5): fields 16 and 17, in ticks of 10 ms. The second field is a name in parentheses.
    const [, fields] = readFileSync('/proc/self/stat', 'utf8').split(/\) (?=[A-Z] )/)
    const [userTicks, systemTicks] = fields.split(' ').slice(13, 15).map(Number)
    ofChildren = (userTicks + systemTicks) / 100
  } catch {
    // Another system.
  }
  return (user + system) / 1e6 + ofChildren
}

/** Multiplies the time limits that a suite, its tests and its hooks had when they were loaded. */
function extendLimits(suite) {
  const hooks = ['_beforeAll', '_beforeEach', '_afterEach', '_afterAll'].flatMap((name) => suite[name])
  for (const one of [...hooks, ...suite.tests]) one.timeout(PATIENCE * one.timeout())
  for (const inner of suite.suites) extendLimits(inner)
}

async function close() {
  for (const end of ends) await end()
  process.send({ ended: true })
  process.channel.unref()
  setTimeout(() => {
    process.send({ leftOpen: leftOpen() }, () => process.exit())
  }, LINGER_MS).unref()
}

function countOpen() {
  const counts = {}
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** What keeps this process alive at its end, each with the file since whose end it is there. Servers that files share are gone by now. */
function leftOpen() {
  const last = countOpen()
  return Object.keys(last).flatMap((kind) => {
    const found = []
    let left = last[kind]
    // What the process has had since a file is what it never had less of afterwards.
    for (let i = seen.length - 1; i >= 0 && left > 0; i -= 1) {
      const before = Math.min(left, seen[i - 1]?.open[kind] ?? 0)
      for (; left > before; left -= 1) found.push(`${kind} (${seen[i].file ?? 'the lane'})`)
    }
    return found
  })
}
