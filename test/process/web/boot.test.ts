import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { describeVariables } from '../../../config/load.ts'
import { version } from '../../../src/process/version.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { postFiles, uploadOne } from '../../support/requests/client.ts'
import { openSocket, sendBytes } from '../../support/requests/exchange.ts'
import { BUILT_SERVER, run, runToEnd, startProcess } from '../../support/servers/process.ts'
import { PROJECT } from '../../support/service.ts'
import { readState, storedState } from '../../support/stored/state.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('the server process', function () {
  this.timeout(30_000)
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('prints every variable with --help', async () => {
    const { code, output } = await runToEnd({}, ['--help'])
    expect(code).to.equal(0)
    for (const { name, help, expected } of describeVariables()) {
      expect(output).to.include(name).and.include(help).and.include(expected)
    }
  })

  it('loads the packages for S3, Redis and webhooks only when they are used', async () => {
    const hooks = `import { writeSync } from 'node:fs'
      export async function resolve(specifier, context, next) {
        writeSync(2, 'loads ' + specifier + '\\n')
        return next(specifier, context)
      }`
    const urlOf = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`
    const watch = urlOf(`import { register } from 'node:module'; register(${JSON.stringify(urlOf(hooks))})`)
    const server = await startProcess({
      script: ['--import', watch, ...BUILT_SERVER],
      env: { DATA_DIR: folder },
    })
    server.child.kill('SIGTERM')
    await server.ended
    expect(server.output())
      .to.match(/^loads sharp$/m)
      .and.not.match(/^loads (@aws-sdk|bullmq|ioredis|undici)/m)
  })

  it('only checks configuration and plugins with --check, as the Procfile does on release', async () => {
    const dataDir = join(folder, 'data')
    const fine = await runToEnd({ DATA_DIR: dataDir }, ['--check'])
    expect(fine.code, fine.output).to.equal(0)
    expect(fine.output).to.match(
      /^ +image-orient +always\n(?: +[a-z]+-.*\n)*? +image-resize +w .*\n(?: +[a-z]+-.*\n)*? +image-format +always; f /m,
    )
    await writeFile(join(folder, 'broken.js'), 'export default 1')
    const broken = await runToEnd({ DATA_DIR: dataDir, PLUGINS_DIR: folder }, ['--check'])
    expect(broken.code).to.equal(1)
    expect(broken.output).to.include('broken.js')
    expect(await stat(dataDir).catch(() => 'nothing')).to.equal('nothing')
  })

  it('prints its version', async () => {
    expect(await runToEnd({ DATA_DIR: folder }, ['--version'])).to.deep.equal({
      code: 0,
      output: `${version()}\n`,
    })
  })

  it('warns about former and misspelt names of variables, once each', async () => {
    const names = { TRANSFORM_HANG_SECONDS: '7', UPLOAD_MAX_BYTE: '7', ZIP_RATE_POINTS: '7' }
    const server = await startProcess({ env: { DATA_DIR: folder, ...names } })
    server.child.kill('SIGTERM')
    await server.ended
    const warnings = server
      .output()
      .split('\n')
      .filter((line) => /"level":40.*(is now called|is not a setting)/.test(line))
    expect(warnings.map((line) => JSON.parse(line).msg.replace(/\..*/, ''))).to.deep.equal([
      'TRANSFORM_HANG_SECONDS is now called TRANSFORM_KILL_SECONDS',
      'UPLOAD_MAX_BYTE is not a setting',
    ])
    const { output } = await runToEnd({ DATA_DIR: folder, ...names }, ['--check'])
    expect(output).to.include('\nsluice: UPLOAD_MAX_BYTE is not a setting.')
  })

  it('refuses an argument that it does not know', async () => {
    const { code, output } = await runToEnd({ DATA_DIR: folder }, ['--port=80'])
    expect(code).to.equal(1)
    expect(output).to.include('"--port=80"').and.include('--help')
  })

  it('reports all invalid values at once and does not start', async () => {
    const secret = 'short'
    const { code, output } = await runToEnd({
      DATA_DIR: join(folder, 'data'),
      PORT: '80000',
      UPLOAD_MAX_BYTES: '10MB',
      LOG_LEVEL: 'loud',
      SECRET_CLIENT_TOKEN: secret,
    })
    expect(code).to.equal(1)
    expect(output).to.include('PORT: expected an integer from 0 to 65535, received "80000"')
    expect(output).to.include('UPLOAD_MAX_BYTES: expected an integer (bytes) from 1, received "10MB"')
    expect(output).to.include('LOG_LEVEL: expected one of debug, info, warn, error, silent, received "loud"')
    expect(output).to.include('SECRET_CLIENT_TOKEN: expected').and.not.include(`"${secret}"`)
    expect(await stat(join(folder, 'data')).catch(() => 'nothing')).to.equal('nothing')
  })

  it('logs one line without a terminal, and keeps the tokens in a file that only their owner can read', async () => {
    const first = await startProcess({ env: { DATA_DIR: folder, LOG_LEVEL: 'error' } })
    const lines = first.output().trim().split('\n')
    expect(lines).to.have.length(1)
    expect(JSON.parse(lines[0] ?? '')).to.deep.include({
      level: 30,
      msg: `Sluice is ready at ${first.url.replace('127.0.0.1', 'localhost')}`,
      version: version(),
      bucket: 'disk',
      index: 'embedded',
      clientToken: first.tokens.clientToken,
      secretIn: join(folder, 'credentials.json'),
    })
    expect(first.output()).to.not.include(first.tokens.secretClientToken)
    first.child.kill('SIGTERM')
    expect(await first.ended).to.equal(0)
    const { mode } = await stat(join(folder, 'credentials.json'))
    expect(mode & 0o777).to.equal(0o600)

    const second = await startProcess({ env: { DATA_DIR: folder } })
    expect(second.tokens).to.deep.equal(first.tokens)
    const ready = second
      .output()
      .split('\n')
      .find((line) => line.includes('"msg":"ready"'))
    expect(ready?.match(/"pid":\d+/g)).to.deep.equal([`"pid":${second.pid}`])
    second.child.kill('SIGTERM')
    await second.ended
  })

  it('prints no secret that the operator has set', async () => {
    const secret = 'a-secret-of-the-operator'
    const server = await startProcess({
      env: { DATA_DIR: folder, CLIENT_TOKEN: 'pub_of_mine', SECRET_CLIENT_TOKEN: secret },
    })
    await uploadOne(server, { name: 'a.png', bytes: await picture() })
    server.child.kill('SIGTERM')
    await server.ended
    expect(server.output()).to.include('pub_of_mine').and.not.include(secret)
  })

  it('answers malformed requests, too', async () => {
    const server = await startProcess({ env: { DATA_DIR: folder } })
    expect(await sendBytes(server, 'nonsense\r\n\r\n')).to.include('application/problem+json')
    server.child.kill('SIGTERM')
    await server.ended
    expect(server.output()).to.include('"reason":"Invalid method encountered"')
  })

  it('names the process that uses the data folder, and does not change the folder', async () => {
    const first = await startProcess({ env: { DATA_DIR: folder } })
    const { code, output } = await runToEnd({ DATA_DIR: folder, PORT: '0' })
    expect(code).to.equal(1)
    expect(output).to.include(`DATA_DIR ${folder} is in use by process ${first.pid}`)
    expect((await fetch(`${first.url}/readyz`)).status).to.equal(200)
    first.child.kill('SIGTERM')
    expect(await first.ended).to.equal(0)
  })

  it('reports when the data folder cannot be created, or its index cannot be opened', async () => {
    // Where the system allows no folder; a recursive mkdir does not report it.
    const nowhere = await runToEnd({ DATA_DIR: '/proc/sluice', PORT: '0' })
    expect(nowhere.code).to.equal(1)
    expect(nowhere.output).to.include('DATA_DIR /proc/sluice cannot be created')
    await writeFile(join(folder, 'index'), 'no folder')
    const broken = await runToEnd({ DATA_DIR: folder, PORT: '0' })
    expect(broken.code).to.equal(1)
    expect(broken.output).to.include(`the index in DATA_DIR ${folder} cannot be opened: EEXIST`)
  })

  it('names the process that uses the port', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { code, output } = await runToEnd({ DATA_DIR: folder, HOST: '127.0.0.1', PORT: String(port) })
    other.close()
    expect(code).to.equal(1)
    expect(output).to.include(`port ${port} is in use by process ${process.pid}`)
  })

  it('does not start with a broken drop-in plugin, and names its file', async () => {
    const plugins = join(folder, 'plugins')
    await mkdir(plugins)
    await writeFile(
      join(plugins, 'broken.js'),
      'export default { name: "broken", engine: "sharp", phase: "later" }',
    )
    const { code, output } = await runToEnd({
      DATA_DIR: join(folder, 'data'),
      PLUGINS_DIR: plugins,
      PORT: '0',
    })
    expect(code).to.equal(1)
    expect(output).to.include(join(plugins, 'broken.js')).and.include('phase').and.include('"later"')
  })

  it('lets a download in progress finish after SIGTERM, and accepts no new request', async () => {
    const server = await startProcess({ env: { DATA_DIR: folder } })
    const bytes = Buffer.alloc(32 * 1024 * 1024, 'sluice ')
    const record = await uploadOne(server, { name: 'a.txt', bytes })
    const response = await fetch(`${server.url}${new URL(record.src).pathname}`)
    server.child.kill('SIGTERM')
    await pause(300)
    const refused = await fetch(`${server.url}/healthz`).catch(() => 'refused')
    expect(refused).to.equal('refused')
    expect((await response.arrayBuffer()).byteLength).to.equal(bytes.length)
    expect(await server.ended).to.equal(0)
  })

  it('exits ten seconds after SIGTERM even when a client does not read', async () => {
    const server = await startProcess({ env: { DATA_DIR: folder } })
    const record = await uploadOne(server, {
      name: 'a.txt',
      bytes: Buffer.alloc(32 * 1024 * 1024, 'sluice '),
    })
    const response = await fetch(`${server.url}${new URL(record.src).pathname}`)
    const asked = performance.now()
    server.child.kill('SIGTERM')
    expect(await server.ended).to.equal(0)
    expect(performance.now() - asked).to.be.within(5_000, 16_000)
    await response.body?.cancel().catch(() => {})
  })

  it('exits soon after SIGTERM in the middle of a transformation without waiting clients', async () => {
    // Half a minute of blurring, which libvips cannot be talked out of.
    const slow = `export default {
      name: 'image-slow', engine: 'sharp', phase: 'effect', params: { slow: { type: 'flag', help: 'x' } },
      transform: (image) => (console.error('begun'), image).resize(9000, 9000, { fit: 'fill' }).blur(250),
    }`
    await mkdir(join(folder, 'plugins'))
    await writeFile(join(folder, 'plugins', 'slow.js'), slow)
    const env = { DATA_DIR: join(folder, 'data'), PLUGINS_DIR: join(folder, 'plugins') }
    const server = await startProcess({ env })
    const record = await uploadOne(server, { name: 'a.png', bytes: await picture() })
    const socket = await openSocket(server)
    socket.write(`GET ${new URL(record.src).pathname}?slow=true HTTP/1.1\r\nHost: x\r\n\r\n`)
    await eventually(() => expect(server.output()).to.include('begun'))
    await pause(300)
    socket.destroy()
    const asked = performance.now()
    server.child.kill('SIGTERM')
    expect(await server.ended).to.equal('SIGTERM')
    expect(performance.now() - asked).to.be.below(5_000)
    expect(server.output()).to.include('forced shutdown; unfinished work')
  })

  it('exits at once at a second Ctrl-C, unless it is the copy that npm forwards', async () => {
    const server = await startProcess({ env: { DATA_DIR: folder } })
    const bytes = Buffer.alloc(32 * 1024 * 1024, 'sluice ')
    const record = await uploadOne(server, { name: 'a.txt', bytes })
    const response = await fetch(`${server.url}${new URL(record.src).pathname}`)
    server.child.kill('SIGINT')
    await pause(100)
    server.child.kill('SIGINT')
    await pause(1_200)
    expect(server.child.signalCode ?? server.child.exitCode, 'the first two are one').to.equal(null)
    const asked = performance.now()
    server.child.kill('SIGINT')
    expect(await server.ended).to.equal('SIGINT')
    // Requests in progress would have ten seconds.
    expect(performance.now() - asked).to.be.below(5_000)
    await response.body?.cancel().catch(() => {})
  })

  it('answers 503 when the disk is full, stores no part of the file, and continues to serve', async () => {
    // Past 400 KiB a write fails, as on a full disk: setrlimit(2), RLIMIT_FSIZE, in blocks of 512 bytes.
    const shell = ['-c', 'trap "" XFSZ; ulimit -f 800; exec "$@"', 'sh', process.execPath]
    const server = await startProcess({
      script: [...shell, ...BUILT_SERVER],
      env: { DATA_DIR: folder },
      program: '/bin/sh',
    })
    const large = await postFiles(server, [{ name: 'a.bin', bytes: randomBytes(600 * 1024) }])
    expect(large.status).to.equal(503)
    expect(large.headers.get('retry-after')).to.equal('60')
    expect(await large.json()).to.include({ code: 'storage_full' })
    const small = await uploadOne(server, { name: 'b.bin', bytes: randomBytes(1024) })
    expect((await fetch(`${server.url}${new URL(small.src).pathname}`)).status).to.equal(200)
    server.child.kill('SIGTERM')
    await server.ended
    expect(await readState(folder)).to.deep.equal(storedState('first', { [small.s3PathOriginal]: [] }))
  })

  it('works with the command line of the Procfile', async () => {
    const [, line = ''] = /^web: (.+)$/m.exec(await readFile(join(PROJECT, 'Procfile'), 'utf8')) ?? []
    const [program = '', ...script] = line.split(' ')
    const server = run({
      program,
      script,
      env: { DATA_DIR: folder, PORT: '0', HOST: '127.0.0.1' },
    })
    while (!server.output().includes('Sluice is ready'))
      await once(server.child.stdout ?? server.child, 'data')
    server.child.kill('SIGINT')
    expect(await server.ended).to.equal(0)
  })
})
