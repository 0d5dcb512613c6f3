import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt } from './ready/dist.js'
import { alone, machineLock, projectLock } from './ready/lock.js'
import { ensurePackages } from './ready/node-modules.js'
import { checkNode } from './ready/node-version.js'
import { command, run, say } from './ready/run.js'
import { ensurePrograms } from './ready/system-packages.js'

const HELP = `npm test [-- <options of mocha>]        for example: npm test -- --grep zip

Runs every test. Installs the npm packages when they are missing, and the programs that the tests use (unzip, bsdtar, 7z,
python3, openssl, Redis, Ceph, curl, wget, aria2, ffmpeg, Chromium, nginx, Varnish) from Debian's packages when it may;
builds; prints the coverage and, as its last line, the totals. A skipped test counts as a failed one; one that fails is tried once more, and named.`

/** The programs that tests call, each with the Debian package that brings it. */
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
  chromium: 'chromium',
  nginx: 'nginx',
  varnishd: 'varnish',
}

const SLOWEST = 40

await command(async () => {
  const options = process.argv.slice(2)
  if (options.includes('--help')) return console.log(HELP)
  checkNode()
  await alone(machineLock, () => ensurePrograms(PROGRAMS))
  await alone(projectLock, async () => {
    await ensurePackages()
    await ensureBuilt()
  })
  process.exitCode = await test(options)
})

/** Runs mocha under c8 and prints the totals below the coverage table. */
async function test(options) {
  // One folder per run: two runs at once would count each other's coverage.
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  const totals = join(folder, 'totals.json')
  const c8 = ['--temp-directory', join(folder, 'coverage')]
  const mocha = [
    // A second try, since many tests measure time and other work may take the machine away from them.
    ...['--forbid-only', '--fail-zero', '--retries', '1'],
    ...['--reporter', 'scripts/totals-reporter.js', '--reporter-option', `totals=${totals}`],
    ...['test/**/*.test.ts', ...options],
  ]
  try {
    const code = await run('node_modules/.bin/c8', [...c8, 'node_modules/.bin/mocha', ...mocha])
    if (!existsSync(totals)) throw new Error(`The tests stopped before their end, with exit code ${code}.`)
    const { passes, failures, pending, failed, unsteady, files } = JSON.parse(readFileSync(totals, 'utf8'))
    const slowest = files.slice(0, SLOWEST).map(({ file, seconds }) => `${seconds} s ${file}`)
    console.log(`\nThe slowest files: ${slowest.join(', ')}`)
    // Once more, where whoever looks at the end of a long log finds them.
    tell('Passed only at its second try', unsteady)
    tell('Failed', failed)
    if (code !== 0 && failures === 0) say(`No test has failed, but the run ended with exit code ${code}.`)
    console.log(`\n${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`)
    return code || Math.min(pending, 1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function tell(what, tests) {
  for (const { title, message } of tests) console.log(`\n${what}: ${title}\n  ${message.slice(0, 500)}`)
}
