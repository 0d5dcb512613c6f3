import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { itLong, sized } from '../../support/sized.ts'

/**
 * npm that notes each call and "installs" a compiler, which notes each build of the service. The client library and the console
 * have no files here.
 */
const NPM = `#!/bin/sh
calls=../calls
[ -d scripts ] && calls=calls
echo "npm $* ($([ -d scripts ] && echo service || basename "$PWD"))" >> $calls
sleep 0.2
mkdir -p node_modules/.bin node_modules/swagger-ui-dist
(cd node_modules/swagger-ui-dist && touch swagger-ui-bundle.js swagger-ui.css LICENSE NOTICE)
cat > node_modules/.bin/tsc <<'END'
#!/bin/sh
[ "$2" = client ] && exec mkdir -p "$4"
echo tsc >> calls
mkdir -p "$4/src" "$4/plugins" "$4/config"
! grep -q broken src/main.ts
END
chmod +x node_modules/.bin/tsc
cp package-lock.json node_modules/.package-lock.json
`
const CI = 'npm ci --include=dev --no-audit --no-fund --loglevel=error'
const FS = `import fs from 'node:fs'`
const SERVER = `console.log('arguments', ...process.argv.slice(2)); process.exitCode = 7`
const LOCK = {
  packages: {
    '': {},
    'node_modules/here': { version: '1.0.0' },
    'node_modules/elsewhere': { version: '1.0.0', optional: true },
  },
}
/** What tests call, each with the Debian package that brings it. */
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
  pdftoppm: 'poppler-utils',
  chromium: 'chromium',
  'chromium-headless-shell': 'chromium-headless-shell',
  nginx: 'nginx',
  varnishd: 'varnish',
  'systemd-analyze': 'systemd',
  promtool: 'prometheus',
  soffice: ['libreoffice-writer-nogui', 'libreoffice-calc-nogui', 'libreoffice-impress-nogui'],
}
/** One test that passes, one that fails, one that would pass at a second try. */
const TESTS = `
const failing = (times, message) => () => {
  times -= 1
  if (times >= 0) throw new Error(message)
}
describe('one of them', () => {
  it('passes', failing(0))
  it('fails', failing(2, 'as ever'))
  it('would pass', failing(1, 'not yet'))
})
`

/** A test that tells where the coverage is kept. */
const KEPT = `it('is kept in ' + (process.env.NODE_V8_COVERAGE || 'no folder'), () => {})`

const nproc = () => Number(execFileSync('nproc', { encoding: 'utf8' }))

describe('scripts', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-scripts-'))
    // Without what the bench has installed.
    const filter = (path: string) => !path.endsWith('node_modules')
    for (const path of ['scripts', 'package.json'])
      cpSync(path, join(folder, path), { recursive: true, filter })
    for (const name of ['src', 'plugins', 'config', 'client', 'dashboard', 'test', 'bin'])
      mkdirSync(join(folder, name))
    for (const name of ['tsconfig.json', 'tsconfig.build.json']) save(name, '{}')
    save('package-lock.json', JSON.stringify(LOCK))
    save('src/main.ts', SERVER)
    // It imports what was built.
    save('scripts/openapi.js', `${FS}; fs.writeFileSync(process.argv[2] + '/openapi.json', '{}')`)
    save('scripts/bundle-uploader.js', '')
    save(
      'scripts/bundle-server.js',
      `${FS}; fs.mkdirSync(process.argv[2] + '/src', { recursive: true }); fs.copyFileSync('src/main.ts', process.argv[2] + '/src/main.js')`,
    )
    save(
      'scripts/dashboard.js',
      `${FS}; fs.mkdirSync(process.argv[2]); fs.appendFileSync('calls', 'console\\n')`,
    )
    for (const name of ['dashboard', 'test', 'scripts/bench', 'scripts/helm'])
      save(`${name}/package-lock.json`, JSON.stringify(LOCK))
    save('bin/npm', NPM, 0o755)
  })

  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  after(() => {
    for (const prepared of projects.values()) rmSync(prepared, { recursive: true, force: true })
  })

  const projects = new Map<string, string>()

  /** Makes the project what it is after these scripts, which are run once for all tests. */
  async function prepare(...scripts: string[]): Promise<void> {
    const name = scripts.join()
    const prepared = projects.get(name)
    if (prepared !== undefined) return cpSync(prepared, folder, { recursive: true })
    for (const script of scripts) await node([script])
    const copy = mkdtempSync(join(tmpdir(), 'sluice-scripts-'))
    cpSync(folder, copy, { recursive: true })
    projects.set(name, copy)
  }

  it('start installs, builds and runs the server, with its arguments and its exit code', async () => {
    const { code, stdout } = await node(['scripts/start.js', '--help'])
    expect(stdout).to.equal('arguments --help\n')
    expect(code).to.equal(7)
    expect(calls()).to.deep.equal([`${CI} (service)`, 'tsc'])
  })

  itLong('start builds the console when the server runs already, once for several', async () => {
    save('src/main.ts', `${FS}; fs.appendFileSync('calls', 'server\\n')`)
    const both = await Promise.all([node(['scripts/start.js']), node(['scripts/start.js'])])
    expect(both.map(({ code }) => code)).to.deep.equal([0, 0])
    const all = ['console', `${CI} (dashboard)`, `${CI} (service)`, 'server', 'server', 'tsc']
    expect(calls().sort()).to.deep.equal(all.sort())
    expect(calls().indexOf('server')).to.be.below(calls().indexOf(`${CI} (dashboard)`))
    expect(existsSync(join(folder, 'dist/dashboard'))).to.equal(true)
  })

  if (sized(false, true))
    it('a server that stops ends the build of the console', async () => {
      save('bin/npm', NPM.replace('sleep 0.2', '[ -d scripts ] || exec sleep 600'), 0o755)
      const isBuilding = `fs.readFileSync('calls', 'utf8').includes('(dashboard)')`
      save('src/main.ts', `${FS}; setInterval(() => ${isBuilding} && process.exit(7), 10)`)
      expect((await node(['scripts/start.js'])).code).to.equal(7)
      expect(existsSync(join(folder, 'dist/dashboard'))).to.equal(false)
      save('bin/npm', NPM, 0o755)
      save('src/main.ts', '')
      await node(['scripts/start.js'])
      expect(existsSync(join(folder, 'dist/dashboard'))).to.equal(true)
    })

  itLong('start removes the packages of the console after the build, unless they were there', async () => {
    await prepare('scripts/start.js')
    expect(existsSync(join(folder, 'dashboard/node_modules'))).to.equal(false)
    await node(['scripts/setup.js'])
    save('dashboard/page.tsx', '')
    await node(['scripts/start.js'])
    expect(existsSync(join(folder, 'dashboard/node_modules'))).to.equal(true)
  })

  if (sized(false, true))
    it('start builds only what has changed', async () => {
      await prepare('scripts/start.js')
      const first = calls().length
      save('dashboard/page.tsx', '')
      await node(['scripts/setup.js'])
      await node(['scripts/start.js'])
      save('plugins/one.ts', '')
      expect((await node(['scripts/start.js'])).code).to.equal(7)
      const builds = calls().filter((call) => !call.startsWith('npm'))
      expect(builds.slice(first - 2)).to.deep.equal(['console', 'tsc'])
    })

  itLong(
    'start gives Node the options that it needs at start-up, unless the environment sets them',
    async () => {
      const printed = (env: Record<string, string>) => {
        const print = `const { MALLOC_ARENA_MAX, UV_THREADPOOL_SIZE } = process.env
        for (const filled = []; filled.length < 1e6; ) filled.push({})
        const { space_size: size } = v8.getHeapSpaceStatistics().find((one) => one.space_name === 'new_space')
        console.log(MALLOC_ARENA_MAX, UV_THREADPOOL_SIZE, size / 2 ** 20, process.argv[1])`
        const { PATH = '' } = process.env
        const options = { env: { PATH, ...env }, encoding: 'utf8' } as const
        return execFileSync('sh', ['scripts/node.sh', '-e', print, 'argument'], options)
      }
      expect(printed({})).to.equal(`2 ${availableParallelism() + 5} 8 argument\n`)
      expect(printed({ MEMORY_PROFILE: 'small' })).to.equal('2 4 2 argument\n')
      const own = { MALLOC_ARENA_MAX: '5', UV_THREADPOOL_SIZE: '7', NODE_OPTIONS: '--max-semi-space-size=2' }
      expect(printed(own)).to.equal('5 7 4 argument\n')
    },
  )

  describe('start counts only the cores of the CPU quota of its container', () => {
    const threads = (own: string, files: Record<string, string>) => {
      const groups = join(folder, 'groups')
      for (const [path, text] of Object.entries({ ...files, own })) {
        mkdirSync(dirname(join(groups, path)), { recursive: true })
        writeFileSync(join(groups, path), `${text}\n`)
      }
      const script = readFileSync('scripts/node.sh', 'utf8')
        .replaceAll('/sys/fs/cgroup', groups)
        .replaceAll('/proc/self/cgroup', join(groups, 'own'))
      save('node.sh', script)
      const args = ['node.sh', '-p', 'process.env.UV_THREADPOOL_SIZE']
      const { PATH = '' } = process.env
      return Number(execFileSync('sh', args, { cwd: folder, env: { PATH }, encoding: 'utf8' }))
    }

    it('with cgroup v2', () => {
      const of = (quota: string) => threads('0::/', { 'cpu.max': quota })
      for (const less of ['100000 100000', ...sized([], ['10000 100000'])]) expect(of(less)).to.equal(6)
      for (const more of ['max 100000', ...sized([], ['9900000000 100000'])])
        expect(of(more)).to.equal(nproc() + 5)
    })

    it('with cgroup v1', () => {
      const of = (quota: string) => ({
        'cpu,cpuacct/docker/1f/cpu.cfs_quota_us': quota,
        'cpu,cpuacct/docker/1f/cpu.cfs_period_us': '100000',
      })
      const own = '5:memory:/docker/2e\n3:cpu,cpuacct:/docker/1f\n0::/'
      expect(threads(own, of('100000'))).to.equal(6)
      expect(threads(own, of('-1'))).to.equal(nproc() + 5)
    })

    it('with the quota of a parent, or when the path of its group is that of the host', () => {
      expect(threads('0::/a/b', { 'a/b/cpu.max': 'max 100000', 'a/cpu.max': '100000 100000' })).to.equal(6)
      expect(threads('0::/host/1f', { 'cpu.max': '100000 100000' })).to.equal(6)
    })

    it('without control groups', () => {
      expect(threads('', {})).to.equal(nproc() + 5)
    })
  })

  itLong('start does not install or build twice', async () => {
    await prepare('scripts/start.js')
    const { stdout, stderr } = await node(['scripts/start.js'])
    expect({ stdout, stderr }).to.deep.equal({ stdout: 'arguments\n', stderr: '' })
    expect(calls()).to.have.length(4)
  })

  itLong('start builds again when a source was changed or deleted', async () => {
    await prepare('scripts/start.js')
    save('plugins/one.ts', '')
    save('src/main.ts', `console.log('new')`)
    expect((await node(['scripts/start.js'])).stdout).to.equal('new\n')
    rmSync(join(folder, 'plugins/one.ts'))
    await node(['scripts/start.js'])
    save('plugins/beside.mts', '')
    await node(['scripts/start.js'])
    expect(calls().filter((call) => call === 'tsc')).to.have.length(4)
  })

  itLong(
    'start installs again when the lock file has another version, or when an installation is incomplete',
    async () => {
      await prepare('scripts/start.js')
      save('package-lock.json', JSON.stringify(LOCK).replace('1.0.0', '1.0.1'))
      await node(['scripts/start.js'])
      save('node_modules/.package-lock.json', '{"packages":{}}')
      await node(['scripts/start.js'])
      expect(calls().filter((call) => call.endsWith('(service)'))).to.have.length(3)
    },
  )

  it('a failed build leaves the previous one in place', async () => {
    await prepare('scripts/start.js')
    save('src/main.ts', 'broken')
    const { code, stderr } = await node(['scripts/start.js'])
    expect(code).to.equal(1)
    expect(stderr).to.include('The build failed')
    expect(readFileSync(join(folder, 'dist/src/main.js'), 'utf8')).to.equal(SERVER)
    expect(existsSync(join(folder, 'dist-next'))).to.equal(false)
  })

  itLong('build makes the command of package.json executable', async () => {
    chmodSync(join(folder, 'scripts/sluice.sh'), 0o644)
    await node(['scripts/build.js'])
    expect(statSync(join(folder, 'scripts/sluice.sh')).mode & 0o111).to.equal(0o111)
    expect(statSync(join(folder, 'dist/src/main.js')).mode & 0o111).to.equal(0)
  })

  it('start states the required Node version when this one is too old', async () => {
    save('package.json', JSON.stringify({ type: 'module', engines: { node: '>=999.1.0' } }))
    const { code, stderr } = await node(['scripts/start.js'])
    expect(code).to.equal(1)
    expect(stderr).to.match(/^Sluice needs Node 999\.1\.0 or later, but this is \d+\.\d+\.\d+\..*\n$/)
  })

  it('test names missing programs and the command that installs them', async () => {
    const { code, stderr } = await node(['scripts/test.js'], { PATH: join(folder, 'bin') })
    expect(code).to.equal(1)
    // Servers, which Debian has in /usr/sbin, are found there whatever PATH says.
    const missing = Object.entries(PROGRAMS).filter(([program]) => !existsSync(`/usr/sbin/${program}`))
    const programs = missing.map(([program]) => program)
    const packages = missing.flatMap(([, names]) => names)
    expect(stderr).to.equal(
      `These programs are missing: ${programs.join(', ')}. Install with: ` +
        `sudo apt-get update && sudo apt-get install --no-install-recommends ${packages.join(' ')}\n`,
    )
  })

  it('test names at its end what has failed, with no second try', async () => {
    const { code, stdout } = await testing({
      'core/one': TESTS,
      'http/other': KEPT,
    })
    expect(code).to.equal(1)
    expect(stdout).to.match(
      /\ntest\/http\/other\.test\.js \(\d+ s, [\d.]+ s of CPU\)\n+ {2}✔ is kept in no folder\n/,
    )
    expect(stdout).not.to.include('c8')
    expect(stdout.slice(stdout.indexOf('\nFailed'))).to.equal(`
Failed: one of them fails
  as ever

Failed: one of them would pass
  not yet

2 passed, 2 failed
`)
  })

  itLong(
    'test fails when one of its processes ends before its tests, or when there are no tests',
    async () => {
      const stopped = await testing({
        'core/one': `it('ends all', () => process.exit(0))`,
        'http/other': `it('is in another file', () => {})`,
      })
      expect(stopped.code).to.equal(1)
      expect(stopped.stderr).to.include(
        'The tests stopped before their end, with exit code 0, in test/core/one.test.js.',
      )
      rmSync(join(folder, 'test/http'), { recursive: true })
      const { code, stdout } = await testing({ 'core/one': '' })
      expect(code).to.equal(1)
      expect(stdout).to.match(/\n0 passed, 0 failed\n$/)
    },
  )

  itLong(
    'test runs more files than it has processes, ends what they share after the last, and reports with --coverage',
    async () => {
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
      const server = `globalThis[Symbol.for('sluice.lane')].atEnd(async () => console.log('server ended'))`
      const file = (name: string) => `import './shared.js'
      it('${name} runs', () => {})`
      const files = { ...Object.fromEntries(names.map((name) => [name, file(name)])), kept: KEPT }
      save('test/shared.js', server)
      const { code, stdout } = await testing(files, '--coverage')
      expect(code).to.equal(0)
      const [, kept] = /is kept in (\/.+\/coverage)/.exec(stdout) ?? []
      expect(stdout).to.include(`\nc8 report --temp-directory ${kept}\n`)
      for (const name of names) expect(stdout.split(`✔ ${name} runs`)).to.have.length(2)
      const ended = stdout.split('server ended').length - 1
      expect(ended).to.be.within(1, 4)
      expect(stdout).to.match(/\n9 passed, 0 failed\n/)
    },
  )

  it('test names slow files that exist', async () => {
    const lanes = readFileSync('scripts/lanes.js', 'utf8')
    const names = [...lanes.matchAll(/^ {2}'(.+\.test\.ts)',$/gm)].map(([, name]) => name ?? '')
    expect(names).to.have.length.above(5)
    expect(names.filter((name) => !existsSync(join('test', name)))).to.deep.equal([])
  })

  for (const name of sized(['test'], ['bench', 'build', 'demo', 'setup', 'test'])) {
    it(`${name} --help prints a description`, async () => {
      const { code, stdout } = await node([resolve(`scripts/${name}.js`), '--help'])
      expect(code).to.equal(0)
      expect(stdout).to.match(new RegExp(`^npm (run )?${name}`))
    })
  }

  /** Runs these files below `test/`, as `npm test` does on a machine that has all it needs. */
  async function testing(files: Record<string, string>, ...options: string[]) {
    await prepare('scripts/start.js', 'scripts/setup.js')
    for (const program of Object.keys(PROGRAMS)) save(`bin/${program}`, '#!/bin/sh\n', 0o755)
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
    for (const [path, target] of [
      ['node_modules/mocha', resolve('node_modules/mocha')],
      ['node_modules/.bin/mocha', '../mocha/bin/mocha.js'],
    ] as const)
      if (!existsSync(join(folder, path))) symlinkSync(target, join(folder, path))
    mkdirSync(join(folder, 'test/node_modules/.bin'), { recursive: true })
    save('test/node_modules/.bin/c8', '#!/bin/sh\necho "c8 $*"\n', 0o755)
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(join(folder, 'test', name, '..'), { recursive: true })
      save(`test/${name}.test.js`, content)
    }
    return node(['scripts/test.js', ...options], { NODE_V8_COVERAGE: '' })
  }

  const save = (name: string, content: string, mode = 0o644) =>
    writeFileSync(join(folder, name), content, { mode })

  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n')

  /** Runs a script of the copied project; its npm and its compiler are the ones above. */
  async function node(args: string[], env: Record<string, string> = {}) {
    // Colours would change the output. Libraries add them for some values of TERM and CI, without a terminal too.
    const { FORCE_COLOR: _, ...inherited } = process.env
    const child: ChildProcessByStdio<null, Readable, Readable> = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...inherited, NO_COLOR: '1', PATH: `${join(folder, 'bin')}:${process.env.PATH}`, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const code = new Promise<number | null>((done) => child.once('exit', done))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { code: await code, stdout, stderr }
  }
})
