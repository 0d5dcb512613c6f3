import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { VARIABLES } from '../../config/schema.ts'
import { commandLine } from '../../src/process/cli/command-line.ts'
import { remote } from '../support/requests/remote.ts'

// The YAML parser of mocha.
const { load } = createRequire(createRequire(import.meta.url).resolve('mocha'))('js-yaml') as {
  load(text: string): unknown
}
const run = promisify(execFile)

/** The value with the merge keys of YAML (`<<`) applied, as compose does. */
function merged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(merged)
  const { '<<': base, ...own } = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries({ ...Object(base), ...own }).map(([name, each]) => [name, merged(each)]),
  )
}

/** The instructions of the Dockerfile, in order, each on one line. */
const INSTRUCTIONS = readFileSync('Dockerfile', 'utf8')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .flatMap((line) => {
    const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    return name === undefined || rest === undefined ? [] : [{ name, rest }]
  })
const lastStage = INSTRUCTIONS.slice(INSTRUCTIONS.findLastIndex(({ name }) => name === 'FROM'))
const last = (wanted: string) => lastStage.findLast(({ name }) => name === wanted)?.rest ?? ''

const NOTHING = async () => {}
const SILENT = () => {}
const commands = commandLine({
  perform: NOTHING,
  become: NOTHING,
  diagnose: NOTHING,
  write: SILENT,
  writeError: SILENT,
  newPlugin: NOTHING,
  init: NOTHING,
  upgrade: NOTHING,
  storageSecret: undefined,
}).commands.map((command) => command.name())

describe('the Dockerfile', () => {
  /** Sources of COPY in the build context, with the name of a folder or file each. */
  const copied = INSTRUCTIONS.filter(
    ({ name, rest }) => name === 'COPY' && !rest.startsWith('--from'),
  ).flatMap(({ rest }) => rest.split(' ').slice(0, -1))

  it('copies what exists and is not ignored', () => {
    const included = readFileSync('.dockerignore', 'utf8').matchAll(/^!(.+)$/gm)
    const names = [...included].map(([, name]) => name)
    expect(copied).to.have.length.above(8)
    expect(copied.filter((path) => !existsSync(path))).to.deep.equal([])
    expect(copied.filter((path) => !names.includes(path.split('/')[0]))).to.deep.equal([])
  })

  it('copies files of the package from the build, so that `sluice init` can replace the build by the package', () => {
    const sources = lastStage
      .filter(({ name }) => name === 'COPY')
      .flatMap(({ rest }) => /^--from=build (.+) \S+$/.exec(rest)?.[1]?.split(' ') ?? [''])
      .filter((path) => path !== '/usr/local/bin/node')
      .map((path) => path.replace('/app/', ''))
    expect(sources).to.include.members(['dist', 'scripts/node.sh', 'config/chain.json'])
    const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] }
    const packed = ['package.json', 'node_modules', 'config/chain.json', 'config/presets.json', ...files]
    expect(sources.filter((path) => !packed.includes(path))).to.deep.equal([])
  })

  it('copies all sources of the build', () => {
    const script = readFileSync('scripts/ready/dist.js', 'utf8')
    const sources = [...script.matchAll(/^ {4}sources: \[(.+?)\],$/gms)].flatMap(([, names = '']) =>
      [...names.matchAll(/'(.+?)'/g)].map(([, name]) => name),
    )
    expect(sources).to.include.members(['src', 'package-lock.json'])
    expect(
      sources.filter((name) => !copied.some((path) => name === path || name?.startsWith(`${path}/`))),
    ).to.deep.equal([])
  })

  it('has the recommended version of Node, and runs it on the release of Debian for which it was installed', () => {
    const [, recommended] =
      /Node 20\.19 or later \((\d+) is recommended\)/.exec(readFileSync('README.md', 'utf8')) ?? []
    const bases = INSTRUCTIONS.filter(({ name }) => name === 'FROM').map(({ rest }) => rest)
    expect(bases).to.deep.equal([`node:${recommended}-bookworm-slim AS build`, 'debian:bookworm-slim'])
    expect(lastStage.map(({ rest }) => rest)).to.include('--from=build /usr/local/bin/node /usr/local/bin/')
  })

  it('runs as a user without rights, who owns the folder of the data', () => {
    expect(last('USER'), 'a number, for runAsNonRoot').to.match(/^[1-9]\d*:[1-9]\d*$/)
    const [, dataDir = ''] = /DATA_DIR=(\S+)/.exec(last('ENV')) ?? []
    expect(dataDir).to.equal('/data')
    expect(last('RUN')).to.include(`chown node:node ${dataDir}`)
    const [, userId] = /useradd --uid (\d+) .*node/.exec(last('RUN')) ?? []
    expect(last('USER')).to.equal(`${userId}:${userId}`)
  })

  it('starts the command of the package, without a shell that would not forward signals', () => {
    expect(JSON.parse(last('CMD'))).to.deep.equal(['sluice', 'start'])
    const { bin } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(last('RUN')).to.include(`ln -s /app/${bin.sluice} /usr/local/bin/sluice`)
    expect(last('COPY')).to.include(`/app/${bin.sluice}`).and.include('/app/scripts/node.sh')
    expect(commands).to.include.members(['start', 'worker', 'doctor'])
  })

  it('installs ffmpeg, and has a health check', () => {
    const packages = lastStage.filter(({ name }) => name === 'RUN').map(({ rest }) => rest)
    expect(packages.join()).to.match(/apt-get install -y --no-install-recommends ffmpeg /)
    const [, command = ''] = /CMD (\[.+\])/.exec(last('HEALTHCHECK')) ?? []
    expect(JSON.parse(command)).to.deep.equal(['node', 'scripts/health.js'])
    expect(last('COPY')).to.include('/app/scripts/health.js')
  })

  it('has the list of fonts for sharp, which a read-only file system cannot store', () => {
    const fonts = lastStage.findIndex(({ rest }) => rest.includes("require('sharp')({ text: "))
    expect(fonts).to.be.above(lastStage.findIndex(({ rest }) => rest.endsWith(' node_modules')))
  })

  // DL3008 (versions of Debian packages) is not followed: Debian deletes a version as soon as it has a fixed one.
  it('follows the rules of hadolint about packages, folders and commands', () => {
    const of = (wanted: string) => INSTRUCTIONS.filter(({ name }) => name === wanted).map(({ rest }) => rest)
    const runs = of('RUN')
    for (const run of runs.filter((command) => command.includes('apt-get install')))
      expect(run, 'DL3009, DL3014, DL3015')
        .to.match(/apt-get update .*apt-get install -y --no-install-recommends /)
        .and.match(/ rm -rf \/var\/lib\/apt\/lists\/\*$/)
    for (const run of runs) expect(run, 'DL3003, DL3004, DL3027, DL4006').not.to.match(/\b(cd|sudo|apt) |\|/)
    for (const folder of of('WORKDIR')) expect(folder, 'DL3000').to.match(/^\//)
    for (const base of of('FROM')) expect(base, 'DL3006, DL3007').to.match(/^\w+:(?!latest)/)
    for (const { name, rest } of INSTRUCTIONS) {
      expect(name, 'DL3020, DL4000').not.to.match(/^(ADD|MAINTAINER)$/)
      if (name === 'CMD' || name === 'ENTRYPOINT') expect(rest, 'DL3025').to.match(/^\[/)
    }
  })

  it('leaves out files of packages that Node does not read, and no library for Linux', async () => {
    const [, left = ''] =
      /find node_modules (.+) -delete/.exec(INSTRUCTIONS.map(({ rest }) => rest).join('\n')) ?? []
    const { stdout } = await run('sh', ['-c', `find node_modules/classic-level node_modules/pino ${left}`])
    const files = stdout.split('\n')
    expect(files)
      .to.include('node_modules/classic-level/index.d.ts')
      .and.include('node_modules/pino/pino.d.ts')
    expect(files.filter((path) => path.includes('/prebuilds/win32'))).to.have.length.above(0)
    expect(files.filter((path) => /\/prebuilds\/linux|\.(c?js|json)$/.test(path))).to.deep.equal([])
  })
})

describe('the workflow of releases', () => {
  it('publishes the image for amd64 and arm64, with its provenance and a list of its packages', () => {
    const { jobs } = load(readFileSync('.github/workflows/release.yml', 'utf8')) as {
      jobs: Record<string, { steps: { uses?: string; with?: object }[] }>
    }
    const build = jobs.image?.steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'))
    expect(build?.with).to.include({
      platforms: 'linux/amd64,linux/arm64',
      push: true,
      provenance: true,
      sbom: true,
    })
  })
})

describe('the npm packages with native code', () => {
  interface Locked {
    version?: string
    os?: string[]
    cpu?: string[]
    libc?: string[]
    dev?: boolean
    hasInstallScript?: boolean
  }
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, Locked>
  }
  const inImage = Object.entries(packages).filter(([, { dev }]) => !dev)

  it('have binaries of one version for Linux on amd64 and arm64', () => {
    const binaries = inImage.filter(([, { os, cpu }]) => os?.includes('linux') && cpu?.includes('x64'))
    expect(binaries.map(([path]) => path)).to.include('node_modules/@img/sharp-libvips-linux-x64')
    for (const [path, { version, libc }] of binaries) {
      const { dev, ...other } = packages[path.replace('x64', 'arm64')] ?? {}
      expect(dev, path).to.equal(undefined)
      expect(other, path).to.deep.include({ version, os: ['linux'], cpu: ['arm64'], ...(libc && { libc }) })
    }
  })

  it('are compiled for none of both: the image has no compiler', () => {
    const compiled = inImage.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
    // The second one has its binaries as packages.
    expect(compiled).to.deep.equal(['node_modules/classic-level', 'node_modules/msgpackr-extract'])
    for (const folder of ['linux-x64', 'linux-arm64'])
      expect(readdirSync(`node_modules/classic-level/prebuilds/${folder}`).join()).to.match(/\.node/)
  })
})

describe('the health check of the image', () => {
  const check = async (args: string[], env = {}) => {
    const { PATH = '' } = process.env
    return run('node', ['scripts/health.js', ...args], { env: { PATH, ...env } }).then(
      () => 0,
      ({ code, stderr }) => `${code}: ${stderr}`,
    )
  }

  it('asks /healthz on PORT, or on the given port', async () => {
    const server = await remote((req, res) => res.writeHead(req.url === '/healthz' ? 200 : 404).end())
    try {
      expect(await check([], { PORT: String(server.port) })).to.equal(0)
      expect(await check([String(server.port)], { PORT: '1' })).to.equal(0)
    } finally {
      await server.close()
    }
    expect(await check([String(server.port)])).to.match(/^1: connect ECONNREFUSED/)
  })

  it('fails for another status than 200', async () => {
    const server = await remote((_req, res) => res.writeHead(503).end())
    try {
      expect(await check([String(server.port)])).to.equal('1: GET /healthz returns 503\n')
    } finally {
      await server.close()
    }
  })
})

interface Service {
  image: string
  build?: string
  command?: string[]
  environment?: Record<string, string>
  healthcheck?: unknown
  restart?: string
  volumes?: string[]
  stop_grace_period?: string
}

for (const file of ['compose.yaml', 'compose.small.yaml'])
  describe(file, () => {
    const text = readFileSync(file, 'utf8')
    const { services, volumes = {} } = merged(load(text)) as {
      services: Record<string, Service>
      volumes?: Record<string, unknown>
    }
    const all = Object.entries(services)
    const ours = all.filter(([, { image }]) => image === 'sluice')

    it('has images with a version', () => {
      const others = all.filter(([, { image }]) => image !== 'sluice').map(([, { image }]) => image)
      expect(others.filter((image) => !/:(RELEASE\.)?\d/.test(image))).to.deep.equal([])
      expect(ours.length).to.be.above(0)
      for (const [, { build }] of ours) expect(build).to.equal('.')
    })

    it('has variables that Sluice knows, and commands that exist', () => {
      const names = ours.flatMap(([, { environment = {} }]) => Object.keys(environment))
      expect(names.filter((name) => !(name in VARIABLES))).to.deep.equal([])
      const started = ours.map(([, { command = ['sluice', 'start'] }]) => command)
      expect(
        started.filter(([program, name = '']) => program !== 'sluice' || !commands.includes(name)),
      ).to.deep.equal([])
    })

    it('has declared volumes, and a health check of each service that is no single task', () => {
      const used = all.flatMap(([, service]) => service.volumes ?? []).map((volume) => volume.split(':')[0])
      expect(used).to.have.length.above(0)
      expect([...new Set(used)].sort()).to.deep.equal(Object.keys(volumes).sort())
      const unchecked = all.filter(
        ([, { image, healthcheck, restart }]) =>
          image !== 'sluice' && !healthcheck && restart !== 'on-failure',
      )
      expect(unchecked.map(([name]) => name)).to.deep.equal([])
    })

    it('allows more time to stop than the server takes', () => {
      for (const [name, service] of ours) expect(service.stop_grace_period, name).to.equal('20s')
    })

    it('requires only variables that the guide names', () => {
      const guide = readFileSync('docs/how-to/container.md', 'utf8')
      const required = [...text.matchAll(/\$\{(\w+):[?-]/g)].map(([, name = '']) => name)
      expect(required.filter((name) => !guide.includes(name))).to.deep.equal([])
    })
  })
