import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { affectedTests, changedFiles, graphOf } from './changed-tests.js'
import { runLanes, testFiles } from './lanes.js'
import { ensureBuilt } from './ready/dist.js'
import { alone, machineLock, projectLock } from './ready/lock.js'
import { ensureAllPackages } from './ready/node-modules.js'
import { checkNode } from './ready/node-version.js'
import { command, run, say } from './ready/run.js'
import { ensurePrograms } from './ready/system-packages.js'

const HELP = `npm test [-- [--changed[=<commit>]] [--coverage] <options of mocha>]        for example: npm test -- --grep zip

Runs all tests. Installs missing npm packages and, if it may, the Debian packages of missing programs (unzip, bsdtar, 7z,
python3, openssl, Redis, Ceph, curl, wget, aria2, ffmpeg, Poppler, Chromium, nginx, Varnish, systemd, Prometheus, LibreOffice). Then it builds, and prints the totals
as its last line. A skipped test counts as failed. --long runs the slow tests instead: the attacks in test/long, and the
full size of tests that are smaller by default. --changed runs only the tests that a change
since the last commit, or since <commit>, can affect: those that import a changed file, lie in the folder of its name, or name it.
--coverage prints the code coverage and takes a third longer.`

/** The programs that tests call, each with the Debian packages that bring it. */
const PROGRAMS = {
  unzip: 'unzip',
  bsdtar: 'libarchive-tools',
  '7z': 'p7zip-full',
  python3: 'python3',
  openssl: 'openssl',
  'redis-server': 'redis-server',
  radosgw: 'radosgw',
  'ceph-mon': 'ceph-mon',
  'ceph-osd': 'ceph-osd',
  ceph: 'ceph-common',
  curl: 'curl',
  wget: 'wget',
  aria2c: 'aria2',
  ffmpeg: 'ffmpeg',
  clamd: 'clamav-daemon',
  pdftoppm: 'poppler-utils',
  chromium: 'chromium',
  'chromium-headless-shell': 'chromium-headless-shell',
  nginx: 'nginx',
  varnishd: 'varnish',
  // A module, which is no program.
  '/usr/lib/*/varnish/vmods/libvmod_xkey.so': 'varnish-modules',
  'systemd-analyze': 'systemd',
  promtool: 'prometheus',
  soffice: ['libreoffice-writer-nogui', 'libreoffice-calc-nogui', 'libreoffice-impress-nogui'],
}

const MOST_CPU = 20

await command(async () => {
  const options = process.argv.slice(2)
  if (options.includes('--help')) return console.log(HELP)
  checkNode()
  await alone(machineLock, () => ensurePrograms(PROGRAMS))
  await alone(projectLock, async () => {
    await ensureAllPackages()
    await ensureBuilt()
  })
  process.exitCode = await test(options)
})

/** Runs the tests of all lanes, and prints the totals below all else. */
async function test(options) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  const isCovered = options.includes('--coverage')
  // One folder per run: two runs at once would count each other's.
  const coverage = join(folder, 'coverage')
  const env = { ...process.env, ...(isCovered ? { NODE_V8_COVERAGE: coverage } : {}) }
  try {
    const isLong = options.includes('--long')
    const files = await chosenFiles(options, testFiles(isLong))
    if (files.length === 0) return 0
    const own = /^--(?:coverage|long|changed(?:=.*)?)$/
    const totals = await runLanes({
      folder,
      env,
      isLong,
      files,
      options: options.filter((option) => !own.test(option)),
    })
    const { code, passes, failures, pending, failed, leftOpen, files: ran } = totals
    if (isCovered) await run('test/node_modules/.bin/c8', ['report', '--temp-directory', coverage])
    const cpuTime = ran.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
    const most = ran.slice(0, MOST_CPU).map(({ file, cpuSeconds }) => `${Math.round(cpuSeconds)} s ${file}`)
    console.log(`\nOf ${Math.round(cpuTime)} s of CPU, most went to: ${most.join(', ')}`)
    // Repeated at the end of the long log, where they are easy to find.
    for (const { title, message } of failed) console.log(`\nFailed: ${title}\n  ${message.slice(0, 500)}`)
    if (leftOpen.length > 0)
      say(`Test files left something open, so their process was killed: ${leftOpen.join(', ')}.`)
    console.log(`\n${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`)
    // A run without tests is a failure too.
    return code || (pending > 0 || passes === 0 ? 1 : 0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The test files that the options choose. */
async function chosenFiles(options, all) {
  const changed = options.find((option) => /^--changed(?:=|$)/.test(option))
  if (changed === undefined) return all
  const differing = changedFiles(changed.split('=')[1] ?? 'HEAD')
  const files = affectedTests(differing, all, await graphOf(all))
  say(
    `${files.length} of ${all.length} test files are affected by the change, by imports and names. npm test runs all.`,
  )
  return files
}
