import { fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from './ready/run.js'

/** The number of processes that run test files at the same time. Most tests wait for half of their time, so two would leave two cores idle. */
const LANES = 4
// Where the CPU is slow, tests compute for most of their time, and those of four processes exceed their time limits.
const LANES_ON_SLOW = 2
const USUAL_START_MS = 40
/** How many times the usual time the start of Node takes on a slow machine, at least. */
const SLOW = 2.25
/** A test that hangs on a slower machine ends after this many times its limit. */
const SLOWNESS_MAX = 4
const STARTS = 5

/** The slowest files start first: one that started last would run alone at the end. The report of a run has the time of each file. */
const SLOWEST_FIRST = [
  'adapters/bucket/s3-outage.test.ts',
  'adapters/locks/redis.test.ts',
  'process/crash/partition.test.ts',
  'adapters/jobs/bullmq.test.ts',
  'process/cli/shared.test.ts',
  'process/web/worker.test.ts',
  'client/direct.test.ts',
  'dashboard/tour/tour.test.ts',
  'process/crash/stream.test.ts',
  'process/outage/redis-failover.test.ts',
  'http/documents/openapi.test.ts',
  'dashboard/details.test.ts',
  'process/web/boot.test.ts',
  'adapters/file-index/partitioned/redis-cluster.test.ts',
  'adapters/file-index/partitioned/moves.test.ts',
  'process/crash/link.test.ts',
  'process/outage/redis-outage.test.ts',
  'process/outage/s3-outage.test.ts',
  'process/crash/crash.test.ts',
  'process/memory/memory.test.ts',
  'http/clients/client-storage.test.ts',
  'process/package.test.ts',
  'pipeline/media/audio.test.ts',
  'http/peers/hls.test.ts',
]

/**
 * Runs test files, with these options of mocha. Each lane is a process that runs one file after another, with a Redis
 * server of its own. All lanes share an S3 server, which takes CPU time also when it is idle. The output of a file is printed when the file has ended.
 *
 * @param {{ folder: string, options: string[], env: Record<string, string>, files: string[], isLong?: boolean }} options `folder`: an empty one, for
 * files of the run; `files`: of {@link testFiles}
 * @returns the totals of all files, and exit code 1 when a test has failed, else 0
 * @throws {Error} when a lane stops before its end
 */
export async function runLanes({ folder, options, env, files, isLong = false }) {
  const waiting = [...files]
  const sizes = isLong ? { SLUICE_TEST_LONG: '1' } : {}
  const totals = { passes: 0, failures: 0, pending: 0, failed: [], files: [], leftOpen: [] }
  const s3 = sharedS3(join(folder, 's3'))
  const slowness = startMs() / USUAL_START_MS
  const machine = { SLUICE_TEST_SLOWNESS: String(Math.min(Math.max(1, Math.round(slowness)), SLOWNESS_MAX)) }
  const lane = (number) =>
    runLane(join(folder, `${number}.txt`), {
      waiting,
      options,
      env: { ...env, ...sizes, ...machine, ...s3.env },
      totals,
    })
  const most = slowness > SLOW ? LANES_ON_SLOW : LANES
  const lanes = Array.from({ length: Math.min(most, waiting.length) }, (_, number) => lane(number))
  const ended = await Promise.allSettled(lanes)
  await s3.end()
  const broken = ended.find(({ status }) => status === 'rejected')
  if (broken) throw broken.reason
  totals.files.sort((one, other) => other.cpuSeconds - one.cpuSeconds)
  return { ...totals, code: totals.failures > 0 ? 1 : 0 }
}

/** The folder of the S3 server of all lanes, see test/support/servers/s3-server.ts. It is stopped by `end`, or when this process is killed and its pipe closes. */
function sharedS3(folder) {
  mkdirSync(folder)
  const script = join(root, 'scripts/servers/rgw.sh')
  const guard = spawn('sh', ['-c', 'cat; "$0" stop "$1"; rm -rf "$1"', script, folder], {
    // Out of reach of a Ctrl-C for the tests.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  return {
    env: { SLUICE_TEST_S3_FOLDER: folder },
    async end() {
      guard.stdin.end()
      await once(guard, 'exit')
    },
  }
}

/** The time of a start of Node: longer where the CPU is slow, or busy with other programs. */
function startMs() {
  const startedAt = performance.now()
  for (let i = 0; i < STARTS; i += 1) spawnSync(process.execPath, ['--eval', '0'])
  return (performance.now() - startedAt) / STARTS
}

/** Runs the waiting files in one process, until no file is left. @param path of a new file for the output of the process */
async function runLane(path, { waiting, options, env, totals }) {
  const output = openSync(path, 'a+')
  let shown = 0
  const show = ({ isSilent = false } = {}) => {
    const bytes = Buffer.alloc(fstatSync(output).size - shown)
    readSync(output, bytes, 0, bytes.length, shown)
    shown += bytes.length
    if (!isSilent) process.stdout.write(bytes)
  }
  const child = fork(join(root, 'scripts', 'lane.js'), options, {
    cwd: root,
    env,
    execArgv: nodeOptions(options),
    // A file instead of a pipe: a process that a test leaves running does not block a reader.
    stdio: ['ignore', output, output, 'ipc'],
  })
  let file
  let hasEnded = false
  const next = () => {
    file = waiting.shift()
    child.send(file === undefined ? { end: true } : { file })
  }
  child.on('message', ({ result, ended, leftOpen }) => {
    if (result !== undefined) {
      // With --grep, most files have no matching test.
      const isSilent = result.passes + result.failures + result.pending === 0
      if (!isSilent) console.log(`\n${file} (${result.seconds} s, ${result.cpuSeconds.toFixed(1)} s of CPU)`)
      show({ isSilent })
      for (const name of ['passes', 'failures', 'pending']) totals[name] += result[name]
      totals.failed.push(...result.failed)
      totals.files.push({ file, seconds: result.seconds, cpuSeconds: result.cpuSeconds })
      next()
    }
    if (ended) hasEnded = true
    if (leftOpen !== undefined) totals.leftOpen.push(...leftOpen)
  })
  const stop = (signal) => child.kill(signal)
  process.on('SIGINT', stop).on('SIGTERM', stop)
  next()
  const [code, signal] = await once(child, 'exit')
  process.off('SIGINT', stop).off('SIGTERM', stop)
  show()
  closeSync(output)
  if (hasEnded) return
  // The other lanes end after their current files.
  waiting.length = 0
  const how = signal ? `by ${signal}` : `with exit code ${code}`
  throw new Error(`The tests stopped before their end, ${how}${file ? `, in ${file}` : ''}.`)
}

/** The options for Node in .mocharc.json. */
function nodeOptions(options) {
  const { loadOptions } = createRequire(import.meta.url)('mocha/lib/cli/options.cjs')
  return (loadOptions(options)['node-option'] ?? []).map((option) => `--${option}`)
}

/** Whether a test file has a full size, more backends or more crashes, or runs a contract, of which some have. */
const isSized = (name) =>
  /\/support\/sized\.ts'|\/crash-points\.ts'|\/contracts\/|onTwoOrEveryBackend|onOneOrTwoBackends/.test(
    readFileSync(join(root, 'test', name), 'utf8'),
  )

/** All test files except those in test/long. With `isLong`: the files in test/long, and the tests that have a full size. */
export function testFiles(isLong) {
  const names = readdirSync(join(root, 'test'), { recursive: true })
    .filter((name) => /\.test\.[jt]s$/.test(name) && !name.includes('node_modules'))
    .filter((name) => (isLong ? name.startsWith('long/') || isSized(name) : !name.startsWith('long/')))
    .sort()
  const first = SLOWEST_FIRST.filter((name) => names.includes(name))
  return [...new Set([...first, ...names])].map((name) => join('test', name))
}
