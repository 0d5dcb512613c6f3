import { closeSync, createReadStream, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { root, run } from './ready/run.js'

/**
 * What the names of the tests of each lane begin with; one that fits several is in the lane of the longest. A lane is a process
 * with servers of its own, beside the others: most tests wait for most of their time, and a single lane would leave three
 * quarters of two cores idle. The lanes take about as long as one another.
 */
const LANES = [
  ['process/'],
  ['http/'],
  ['', 'http/peers/', 'http/video', 'process/crash/crash.', 'process/crash/random-work.'],
]

/**
 * Runs all tests below `test/`, with these options of mocha. What the first lane prints is seen as it comes, what the others
 * print once it has ended.
 *
 * @param {{ folder: string, options: string[], env: Record<string, string>, isLong?: boolean }} asked `folder`: an empty one, for files of the run
 * @returns the totals of all lanes, and the exit code of one that has failed, or 0
 * @throws {Error} when a lane stops before its end
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

/** Runs mocha on these files. @param at what the names of its own files begin with */
async function runLane(files, at, { options, env, seen }) {
  const printed = seen ? undefined : `${at}.txt`
  const noted = `${at}.json`
  const output = printed === undefined ? undefined : openSync(printed, 'w')
  const where = output === undefined ? { isApart: true } : { stdio: ['ignore', output, output] }
  const args = [
    // A second try, since many tests measure time and other work may take the machine away from them.
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

/** The files of each lane: all but those below test/long; with `isLong` those, and the tests that have a full size. */
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
