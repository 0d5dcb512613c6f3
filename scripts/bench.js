import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt } from './ready/dist.js'
import { alone, projectLock } from './ready/lock.js'
import { ensurePackages } from './ready/node-modules.js'
import { checkNode } from './ready/node-version.js'
import { command, root, run, say } from './ready/run.js'
import { ensurePrograms } from './ready/system-packages.js'

const HELP = `npm run bench [-- <options>]        for example: npm run -s bench -- --only cold-webp > table.md

Compares Sluice with programs that do the same work, each in a separate process: sharp behind node:http, ipx
(installed into scripts/bench/ipx), express.static, busboy, archiver, and nginx if it is installed. The row on S3 needs
the S3 server that npm test installs (Ceph). Prints a table in
Markdown to stdout, and the progress to stderr. Ends with exit code 1 when a ratio misses its target by more than a
tenth. Linux only. Takes half an hour; other load on the machine distorts the results. A row is marked as disturbed
when other processes used the machine.

npm run bench -- images  compares each transformation with sharp alone: new derivatives per second, eight
at a time. Takes six minutes. --only takes names of its table.

npm run bench -- encoders  compares the settings of JPEG, WebP, AVIF and PNG: time, bytes and similarity. Takes ten
minutes. --only takes the names of the formats.

npm run bench -- bytes  compares the bytes and the look of derivatives with the settings of other programs, and
counts those that are larger than their original. Takes two minutes.

npm run bench -- starts  compares the time from the command to the first response. Takes a minute.

npm run bench -- videos  compares transcodes and thumbnails with ffmpeg alone. Takes 15 minutes. --only takes
transcode, thumbnail.

npm run bench -- scale  measures how costs grow with the number of files, of derivatives of one file, and of web processes:
CPU time, latency, memory, and the work of Redis. Takes ten minutes, 4 GB of memory, and redis-server. --only takes
files, derivatives, processes, comparison, unchanged. --only files --indexes cluster --files 10000000 takes 10 GB of
memory. From 1,000,000 files on, several web processes are measured as well. --only unchanged compares an index with a
bucket of radosgw in which no file differs; it takes five minutes, and 3 GB of memory.

  --only <names>      some of first-jpeg, first-jpeg-1200, first-webp, first-avif, first-of-small, first-of-large, first-of-png, first-of-webp,
                      first-on-s3, hot, crowded, stored, refused, original, range, range-1mb, cold-jpeg, cold-webp, cold-direct,
                      later-jpeg, later-png, together, upload, zip, separated by commas
  --files <numbers>   with scale: other numbers of files than 10,1000,100000,1000000
  --indexes <names>   with scale: some of embedded, redis, cluster
  --short             one run with a third of the requests: six minutes
  --json <file>       writes all figures and targets there
  --runs <number>     runs of each program, in turn; default: 3
  --quick             few requests and one run, only to test the benchmark. Does not install ipx
  --photo <file>      an image to use instead of generated ones
  --profile <folder>  stores a CPU profile of each run of Sluice there. Profiling slows it: ignore the figures`

const GROUPS = ['works', 'images', 'bytes', 'videos', 'starts', 'encoders', 'scale']
const ipxFolder = join(root, 'scripts/bench/ipx')
const encodersFolder = join(root, 'scripts/bench/encoders')

await command(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      runs: { type: 'string' },
      quick: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      json: { type: 'string' },
      files: { type: 'string' },
      indexes: { type: 'string' },
      photo: { type: 'string' },
      profile: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return console.log(HELP)
  checkNode()
  if (process.platform !== 'linux') throw new Error('The bench reads /proc, which only Linux has.')
  const [group = 'works', ...others] = positionals
  if (!GROUPS.includes(group) || others.length > 0) {
    const received = JSON.stringify(positionals.join(' '))
    throw new Error(
      `expected images, bytes, videos, starts, encoders, scale or nothing, received ${received}`,
    )
  }
  await alone(projectLock, async () => {
    await ensurePackages('scripts/bench')
    await ensureBuilt()
  })
  const { measure, names, indexNames = [] } = await benchOf(group)
  const options = {
    ...checked(values, names),
    indexes: someOf(indexNames, values.indexes, '--indexes'),
  }
  if (!values.quick && group === 'works') await alone(projectLock, () => ensurePeers(ipxFolder))
  if (group === 'bytes' || (!values.quick && group === 'encoders'))
    await alone(projectLock, () => ensurePeers(encodersFolder))
  if (!values.quick && group === 'scale') {
    await ensurePrograms({ 'redis-server': 'redis-server', wrk: 'wrk' }).catch(({ message }) => say(message))
  }
  const temporary = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const { text, missed = [] } = await measure({ ...options, temporary })
  console.log(text)
  for (const miss of missed) say(miss)
  process.exitCode = missed.length > 0 ? 1 : 0
})

/** Loads the benchmark of a group, and the names that --only accepts. Call it only after the packages were installed. */
async function benchOf(group) {
  if (group === 'images') {
    const { benchImages, OPERATION_NAMES } = await import('./bench/images/bench.js')
    return { measure: async (options) => ({ text: await benchImages(options) }), names: OPERATION_NAMES }
  }
  if (group === 'encoders') {
    const { benchEncoders, ENCODER_NAMES } = await import('./bench/encoders/bench.js')
    return { measure: async (options) => ({ text: await benchEncoders(options) }), names: ENCODER_NAMES }
  }
  if (group === 'bytes') {
    const { benchBytes } = await import('./bench/bytes/bench.js')
    return { measure: async (options) => ({ text: await benchBytes(options) }), names: [] }
  }
  if (group === 'videos') {
    const { benchVideos, VIDEO_WORK_NAMES } = await import('./bench/videos/bench.js')
    return { measure: async (options) => ({ text: await benchVideos(options) }), names: VIDEO_WORK_NAMES }
  }
  if (group === 'starts') {
    const { benchStarts } = await import('./bench/starts/bench.js')
    return { measure: async (options) => ({ text: await benchStarts(options) }), names: [] }
  }
  if (group === 'scale') {
    const { benchScale, INDEX_NAMES, SCALE_NAMES } = await import('./bench/scale/bench.js')
    return {
      measure: async (options) => ({ text: await benchScale(options) }),
      names: SCALE_NAMES,
      indexNames: INDEX_NAMES,
    }
  }
  const { bench, WORK_NAMES } = await import('./bench/bench.js')
  return { measure: bench, names: WORK_NAMES }
}

/** The names of an option, separated by commas. @throws {Error} for a name that is not in `names` */
function someOf(names, value, option) {
  const chosen = value?.split(',')
  const unknown = chosen?.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new Error(`expected some of ${names.join(', ')} for ${option}, received ${JSON.stringify(unknown)}`)
  return chosen
}

function checked({ only, files, runs, quick, short, photo, profile, json }, names) {
  const works = someOf(names, only, '--only')
  const count = Number(runs ?? (quick || short ? 1 : 3))
  if (!Number.isInteger(count) || count < 1) {
    throw new Error(`expected an integer from 1 for --runs, received ${JSON.stringify(runs)}`)
  }
  const sizes = files?.split(',').map(Number)
  if (sizes?.some((size) => !Number.isInteger(size) || size < 1)) {
    throw new Error(`expected integers from 1 for --files, received ${JSON.stringify(files)}`)
  }
  return {
    runs: count,
    files: sizes,
    size: quick ? 'quick' : short ? 'short' : 'full',
    json: json && resolve(json),
    only: works,
    photo: photo && resolve(photo),
    profile: profile && resolve(profile),
  }
}

/** Installs the packages of a folder from its own package-lock.json, unless they are installed. */
async function ensurePeers(folder) {
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return
  const name = basename(folder)
  say(`Installing the packages of ${name} into scripts/bench/${name} ...`)
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  const code = await run('npm', args, { cwd: folder, stdio: ['ignore', process.stderr, process.stderr] })
  if (code !== 0)
    say(`They could not be installed (npm ci ended with exit code ${code}); continuing without them.`)
}
