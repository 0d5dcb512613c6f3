import { closeSync, createReadStream, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { root, run } from './ready/run.js'

/**
 * The prefixes of the test files of each lane. A file that matches several prefixes belongs to the lane of the longest.
 * A lane is a separate process with its own servers. Lanes run concurrently: most tests wait for most of their time,
 * and a single lane would leave three quarters of two cores idle. All lanes take about the same time.
 */
const LANES = [
  ['process/'],
  ['http/'],
  ['', 'http/peers/', 'http/video', 'process/crash/crash.', 'process/crash/random-work.'],
]

/**
 * Runs all tests below `test/` with these options of mocha. The output of the first lane is printed at once, that of
 * the others after their end.
 *
 * @param {{ folder: string, options: string[], env: Record<string, string>, isLong?: boolean }} asked `folder`: an
 *   empty folder for files of the run
 * @returns the totals of all lanes, and the exit code of a failed lane, or 0
 * @throws {Error} when a lane stops early
 */
export async function runLanes({ folder, options, env, isLong = false }) {
  const sizes = isLong ? { SLUICE_TEST_LONG: '1' } : {}
  const running = lanes(isLong).map((files, i) =>
    runLane(files, join(folder, String(i)), { options, env: { ...env, ...sizes }, seen: i === 0 }),
  )
  const totals = []
  for (const lane of running) {
    const { code, printed, noted } = await lane
    if (printed !== undefined) await pipeline(createReadStream(printed), process.stdout, { end: false })
    if (!existsSync(noted)) throw new Error(`The tests stopped before their end, with exit code ${code}.`)
    totals.push({ code, ...JSON.parse(readFileSync(noted, 'utf8')) })
  }
  const sum = (name) => totals.reduce((all, lane) => all + lane[name], 0)
  return {
    code: totals.find(({ code }) => code !== 0)?.code ?? 0,
    passes: sum('passes'),
    failures: sum('failures'),
    pending: sum('pending'),
    failed: totals.flatMap(({ failed }) => failed),
    unsteady: totals.flatMap(({ unsteady }) => unsteady),
    leftOpen: totals.flatMap(({ leftOpen }) => leftOpen),
    files: totals.flatMap(({ files }) => files).sort((one, other) => other.seconds - one.seconds),
  }
}

/** Runs mocha on these files. @param at path prefix of the lane's own files */
async function runLane(files, at, { options, env, seen }) {
  const printed = seen ? undefined : `${at}.txt`
  const noted = `${at}.json`
  const output = printed === undefined ? undefined : openSync(printed, 'w')
  const where = output === undefined ? { isApart: true } : { stdio: ['ignore', output, output] }
  const args = [
    // One retry: many tests measure time, and other processes may use the CPU.
    ...['--forbid-only', '--retries', '1'],
    ...['--reporter', 'scripts/totals-reporter.js', '--reporter-option', `totals=${noted}`],
    ...options,
    ...files,
  ]
  try {
    const code = await run('node_modules/.bin/mocha', args, { env, ...where })
    return { code, printed, noted }
  } finally {
    if (output !== undefined) closeSync(output)
  }
}

const isSized = (name) => readFileSync(join(root, 'test', name), 'utf8').includes("/support/sized.ts'")

/** The files of each lane: all except those below test/long. With `isLong`: those, and the tests that have a full size. */
function lanes(isLong) {
  const tests = readdirSync(join(root, 'test'), { recursive: true })
    .filter((name) => /\.test\.[jt]s$/.test(name))
    .filter((name) => (isLong ? name.startsWith('long/') || isSized(name) : !name.startsWith('long/')))
  const starts = LANES.flatMap((lane) => lane.map((start) => ({ lane, start })))
  starts.sort((one, other) => other.start.length - one.start.length)
  const laneOf = (name) => starts.find(({ start }) => name.startsWith(start))?.lane
  return LANES.map((lane) => tests.filter((name) => laneOf(name) === lane))
    .filter((files) => files.length > 0)
    .map((files) => files.map((name) => join('test', name)).sort())
}
