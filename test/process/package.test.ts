import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import sharp from 'sharp'
import { dropIn } from '../pipeline/load/drop-ins.ts'
import { eventually, LONG_MS } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { type Installed, installPackage } from '../support/programs/package.ts'
import { PROJECT, TEST_DEFAULTS } from '../support/service.ts'
import { itLong, sized } from '../support/sized.ts'

const run = promisify(execFile)
const { PATH = '' } = process.env
const ENV = { PATH, HOST: '127.0.0.1', PORT: '0', SHUTDOWN_DELAY_SECONDS: '0', ...TEST_DEFAULTS }

const PLUGIN = `import { definePlugin, PLUGIN_API } from 'sluice/plugin'
export default definePlugin({
  name: 'image-duotone',
  api: PLUGIN_API,
  engine: 'sharp',
  phase: 'effect',
  params: { duotone: { type: 'color', help: 'Two tones' } },
  transform: (image, { duotone = '' }, { source }) => image.tint(\`#\${duotone}\`).resize(source.width),
})
`
const RENDERING = `import { render } from 'sluice/testing'
import plugin from './plugin.ts'
const picture = process.argv[2] ?? ''
const { bytes, mediaType, variant }: { bytes: Buffer; mediaType: string; variant: string } =
  await render(plugin, picture, 'w=10&duotone=ff0000&f=png')
console.log(mediaType, bytes.length > 50, variant.split('&~')[0])
`
const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    // The types of other packages are not ours.
    skipLibCheck: true,
  },
}

/** Waits until a server is ready. */
async function served(child: ChildProcessWithoutNullStreams) {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const closed = once(child, 'close')
  await eventually(() => expect(output).to.include('Sluice is ready'), { withinMs: LONG_MS })
  return {
    url: `http://127.0.0.1:${/"port":(\d+)/.exec(output)?.[1]}`,
    output: () => output,
    closed,
    /** Ends a process group of its own. @returns the whole output */
    async stop() {
      process.kill(-(child.pid as number), 'SIGTERM')
      await closed
      return output
    },
  }
}

describe('the installed npm package', function () {
  this.timeout(120_000)
  let installed: Installed
  before(async () => {
    installed = await installPackage()
  })
  after(() => installed.remove())

  it('serves in an empty folder after `sluice start`, and ends at SIGTERM', async () => {
    const { folder, sluice } = installed
    const child = spawn(sluice, ['start'], { cwd: folder, env: ENV })
    const { url, output, closed } = await served(child)
    expect(output()).to.not.match(/warning/i)
    const { secretClientToken } = JSON.parse(await readFile(join(folder, 'data', 'credentials.json'), 'utf8'))
    const body = new FormData()
    body.set('file', new Blob([await picture()]), 'a.png')
    const headers = { Authorization: secretClientToken }
    const uploaded = await fetch(`${url}/v1/upload`, { method: 'POST', headers, body })
    const [{ src }] = (await uploaded.json()) as [{ src: string }]
    const delivered = await fetch(`${url}${new URL(src).pathname}?w=7&f=webp`)
    const { width, format } = await sharp(Buffer.from(await delivered.arrayBuffer())).metadata()
    expect({ width, format }).to.deep.equal({ width: 7, format: 'webp' })
    // The command is the server itself: no process between them could lose the signal.
    child.kill('SIGTERM')
    expect(await closed).to.deep.equal([0, null])
    expect((await readdir(folder)).sort()).to.deep.equal(['data', 'node_modules'])
  })

  // Another start takes two seconds of CPU time. The script of npm start: `. ./.env` is in cli/init/init.test.ts, `sluice start` above.
  const later = sized('', ' and later by its npm start')
  it(`serves from a folder of \`sluice init\`, at once${later}, with the secrets of its .env`, async () => {
    const { folder, sluice } = installed
    const files = join(folder, 'files')
    const args = ['init', 'files', '--platform', 'node', '--yes', '--start']
    // The file overrides variables of the shell.
    const env = { ...ENV, BASE_URL: 'https://shell.example.com' }
    const first = await served(spawn(sluice, args, { cwd: folder, env, detached: true }))
    const dotenv = await readFile(join(files, '.env'), 'utf8')
    const [, secret = ''] = /^SECRET_CLIENT_TOKEN=(sec_\w+)$/m.exec(dotenv) ?? []
    const body = new FormData()
    body.set('file', new Blob([await picture()]), 'a.png')
    const headers = { Authorization: secret }
    const uploaded = await fetch(`${first.url}/v1/upload`, { method: 'POST', headers, body })
    const [{ src }] = (await uploaded.json()) as [{ src: string }]
    expect(new URL(src).origin).to.equal('http://localhost:3000')
    expect(await first.stop())
      .to.include('Written to ')
      .and.not.include(secret)
    const { scripts } = JSON.parse(await readFile(join(files, 'package.json'), 'utf8'))
    expect(scripts.start).to.equal('set -a && . ./.env && exec sluice start')
    if (sized(false, true)) {
      // As npm install does.
      await symlink('../node_modules', join(files, 'node_modules'))
      await writeFile(join(files, '.env'), dotenv.replace(/^PORT=.*$/m, 'PORT=0'))
      const second = await served(spawn('npm', ['start'], { cwd: files, env: { PATH }, detached: true }))
      const delivered = await fetch(`${second.url}${new URL(src).pathname}?w=7`)
      expect(delivered.status).to.equal(200)
      await second.stop()
    }
    expect(await readdir(files)).to.include.members(['data', 'package.json', 'README.md'])
    await rm(files, { recursive: true, force: true })
  })

  itLong('has the commands start and worker, with their own help and options', async () => {
    const { folder, sluice } = installed
    const printed = async (...args: string[]) => (await run(sluice, args, { cwd: folder, env: ENV })).stdout
    expect(await printed('--help'))
      .to.match(/^ {2}start /m)
      .and.match(/^ {2}worker /m)
    expect(await printed('worker', '--help'))
      .to.match(/^Sluice worker/)
      .and.include('REDIS_URL')
    expect(await printed('start', '--check')).to.include('Configuration, plugins and presets are valid')
  })

  itLong('prints what to do after `sluice doctor`, with exit code 1 after a problem', async () => {
    const { folder, sluice } = installed
    const doctor = (env: Record<string, string>, ...args: string[]) =>
      run(sluice, ['doctor', ...args], { cwd: folder, env: { ...ENV, ...env } }).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
      )
    const valid = await doctor({})
    expect(valid).to.include({ code: 0, stderr: '' })
    expect(valid.stdout).to.match(/^warning {2}public URL +BASE_URL is unset.*\n +Set BASE_URL/m)
    expect(valid.stdout).to.match(/\nNo problems, \d warnings?\n$/)
    const invalid = await doctor({ PORT: 'x' }, '--json')
    expect(invalid).to.include({ code: 1, stderr: '' })
    const lines = invalid.stdout
      .trimEnd()
      .split('\n')
      .map((line: string) => JSON.parse(line))
    expect(lines[1]).to.include({ name: 'configuration', state: 'problem' })
    expect(lines.at(-1)).to.include({ problems: 1 })
  })

  it('writes a plugin whose test passes, and which the server loads, after `sluice plugin new`', async () => {
    const { folder, sluice } = installed
    // As npm init writes it.
    await writeFile(join(folder, 'package.json'), '{"type":"commonjs"}')
    const { stdout } = await run(sluice, ['plugin', 'new', 'duo-tone'], { cwd: folder, env: ENV })
    const [plugin = '', test = ''] = stdout.split('\n')
    expect([plugin, test]).to.deep.equal(['plugins/image-duo-tone.js', 'plugins/image-duo-tone.test.mjs'])
    const tested = await run(process.execPath, ['--test', test], { cwd: folder, env: ENV })
    expect(tested.stdout).to.match(/^. pass 3$/m)
    const env = { ...ENV, PLUGINS_DIR: 'plugins' }
    expect((await run(sluice, ['start', '--check'], { cwd: folder, env })).stdout).to.match(
      /^ +image-duo-tone +duo_tone$/m,
    )
    // In `npm test`, cli/plugin-template.test.ts has the refusal.
    if (sized(true, false)) return
    const again = await run(sluice, ['plugin', 'new', 'duo-tone'], { cwd: folder, env: ENV }).catch(
      (error) => error,
    )
    expect(again).to.include({ code: 1, stderr: 'sluice: plugins/image-duo-tone.js exists already\n' })
  })

  itLong('loads plugins of PLUGINS from node_modules of the working directory', async () => {
    const { folder, sluice } = installed
    const modules = join(folder, 'node_modules', 'sluice-plugin-same')
    await mkdir(modules)
    await writeFile(join(modules, 'package.json'), '{"type":"module","version":"1.0.0"}')
    await writeFile(join(modules, 'index.js'), dropIn('image-same'))
    const env = { ...ENV, PLUGINS: 'sluice-plugin-same' }
    expect((await run(sluice, ['start', '--check'], { cwd: folder, env })).stdout).to.include('image-same')
  })

  it('has types and a test function for plugins', async () => {
    const { folder } = installed
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, 'plugin.ts'), PLUGIN)
    await writeFile(join(folder, 'rendering.ts'), RENDERING)
    await writeFile(join(folder, 'picture.png'), await picture())
    // A compiler takes seconds: what is right and what is wrong in one run.
    await writeFile(join(folder, 'wrong.ts'), PLUGIN.replace('source.width', 'source.wide'))
    const config = { ...TSCONFIG, files: ['rendering.ts', 'wrong.ts'] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const bin = join(PROJECT, 'node_modules', '.bin')
    const checked = await run(join(bin, 'tsc'), [], { cwd: folder }).catch((error) => error)
    expect(checked.stdout).to.match(/^wrong\.ts\(\d+,\d+\): .*Property 'wide' does not exist.*\n$/)
    // The test of the written plugin above renders, too.
    if (sized(true, false)) return
    // console.log colours values if the environment says so.
    const { FORCE_COLOR: _, ...inherited } = process.env
    const rendering = { cwd: folder, env: { ...inherited, NO_COLOR: '1' } }
    const { stdout } = await run(join(bin, 'tsx'), ['rendering.ts', 'picture.png'], rendering)
    expect(stdout).to.equal('image/png true duotone=ff0000&w=10\n')
  })

  it('has types for each entry, resolved as by Node and by a bundler', async () => {
    const { folder } = installed
    const { exports } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8'))
    const entries = Object.keys(exports).filter((entry) => exports[entry].types !== undefined)
    expect(entries).to.include.members(['./client', './next', './react', './testing'])
    const uses = entries.map((entry, i) => `export * as entry${i} from '${entry.replace('.', 'sluice')}'\n`)
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, 'entries.ts'), uses.join(''))
    const node = { module: 'nodenext' }
    const bundler = { module: 'preserve', moduleResolution: 'bundler' }
    for (const resolution of sized([bundler], [node, bundler])) {
      const compilerOptions = {
        ...TSCONFIG.compilerOptions,
        lib: ['es2023', 'dom', 'dom.iterable'],
        ...resolution,
      }
      const config = { compilerOptions, files: ['entries.ts'] }
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
      const tsc = join(PROJECT, 'node_modules', '.bin', 'tsc')
      const checked = await run(tsc, [], { cwd: folder }).catch((error) => error)
      expect(checked.stdout).to.equal('')
    }
  })
})
