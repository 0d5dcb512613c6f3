import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { describeVariables } from '../../../config/load.ts'
import { clientRecordKey } from '../../../src/core/files/object-key.ts'
import { version } from '../../../src/process/version.ts'
import { holderOfPort } from '../../../src/process/web/port-holder.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { metricsUrl, sampleOf } from '../../support/metrics.ts'
import { rejection } from '../../support/rejection.ts'
import { postFiles, uploadOne } from '../../support/requests/client.ts'
import { exchange, openSocket, sendBytes } from '../../support/requests/exchange.ts'
import { emptyRedis, inRedis, redisEnv } from '../../support/servers/on-redis.ts'
import {
  BUILT_SERVER,
  type RunningServer,
  run,
  runToEnd,
  startProcess,
} from '../../support/servers/process.ts'
import { PROJECT, startService } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'
import { noise } from '../../support/stored/noise.ts'
import { readState, storedState } from '../../support/stored/state.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// More than the buffers of a connection hold.
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'sluice ')

// A former name, a misspelt one, and one that other programs may use.
const NAMES = { TRANSFORM_HANG_SECONDS: '7', UPLOAD_MAX_BYTE: '7', ZIP_RATE_POINTS: '7' }

/** Prints each module that a process loads. */
const WATCH_MODULES = (() => {
  const hooks = `import { writeSync } from 'node:fs'
    export async function resolve(specifier, context, next) {
      writeSync(2, 'loads ' + specifier + '\\n')
      return next(specifier, context)
    }`
  const urlOf = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`
  return urlOf(`import { register } from 'node:module'; register(${JSON.stringify(urlOf(hooks))})`)
})()

describe('the server process', () => {
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  // In `npm test`, banner.test.ts has the text.
  itLong('prints every variable with --help', async () => {
    const { code, output } = await runToEnd({}, ['--help'])
    expect(code).to.equal(0)
    for (const { name, help, expected } of describeVariables()) {
      expect(output).to.include(name).and.include(help).and.include(expected)
    }
  })

  it('only checks configuration and plugins with --check, as the Procfile does on release', async () => {
    const dataDir = join(folder, 'data')
    const fine = await runToEnd({ DATA_DIR: dataDir, ...NAMES }, ['--check'])
    expect(fine.code, fine.output).to.equal(0)
    expect(fine.output).to.match(
      /^ +image-orient +always\n(?: +[a-z]+-.*\n)*? +image-resize +w .*\n(?: +[a-z]+-.*\n)*? +image-format +always; f /m,
    )
    expect(fine.output).to.include('\nsluice: UPLOAD_MAX_BYTE is not a setting.')
    expect(await stat(dataDir).catch(() => 'nothing')).to.equal('nothing')
  })

  itLong('names a broken plugin with --check', async () => {
    const dataDir = join(folder, 'data')
    const plugin = 'export default { name: "broken", engine: "sharp", phase: "later" }'
    await writeFile(join(folder, 'broken.js'), plugin)
    const broken = await runToEnd({ DATA_DIR: dataDir, PLUGINS_DIR: folder }, ['--check'])
    expect(broken.code).to.equal(1)
    expect(broken.output).to.include(join(folder, 'broken.js')).and.include('phase').and.include('"later"')
    expect(await stat(dataDir).catch(() => 'nothing')).to.equal('nothing')
  })

  itLong('prints its version', async () => {
    expect(await runToEnd({ DATA_DIR: folder }, ['--version'])).to.deep.equal({
      code: 0,
      output: `${version()}\n`,
    })
  })

  itLong('refuses an argument that it does not know', async () => {
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

  it('names the process that uses the port', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    try {
      expect(await holderOfPort(port)).to.match(new RegExp(`^process ${process.pid}\\b`))
      const { code, output } = await runToEnd({ DATA_DIR: folder, HOST: '127.0.0.1', PORT: String(port) })
      expect(code).to.equal(1)
      expect(output).to.include(`port ${port} is in use by process ${process.pid}`)
    } finally {
      other.close()
    }
  })

  itLong('exits soon after SIGTERM in the middle of a transformation without waiting clients', async () => {
    // Half a minute of blurring, which libvips cannot be talked out of.
    const slow = `export default {
      name: 'image-slow', engine: 'sharp', phase: 'effect', params: { slow: { type: 'flag', help: 'x' } },
      transform: (image) => (console.error('begun'), image).resize(9000, 9000, { fit: 'fill', kernel: 'nearest' }).blur(250),
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
    server.child.kill('SIGTERM')
    expect(await server.ended).to.equal('SIGTERM')
    expect(server.output()).to.include('forced shutdown; unfinished work')
  })

  // A disk that is full in other ways: ../outage/full-disk.test.ts and small-disk.test.ts.
  if (sized(false, true))
    it('answers 503 when the disk is full, stores no part of the file, and continues to serve', async () => {
      // Past 400 KiB a write fails, as on a full disk: setrlimit(2), RLIMIT_FSIZE, in blocks of 512 bytes.
      const shell = ['-c', 'trap "" XFSZ; ulimit -f 800; exec "$@"', 'sh', process.execPath]
      const server = await startProcess({
        script: [...shell, ...BUILT_SERVER],
        env: { DATA_DIR: folder },
        program: '/bin/sh',
      })
      const large = await postFiles(server, [{ name: 'a.bin', bytes: noise(600 * 1024) }])
      expect(large.status).to.equal(503)
      expect(large.headers.get('retry-after')).to.equal('60')
      expect(await large.json()).to.include({ code: 'storage_full' })
      const small = await uploadOne(server, { name: 'b.bin', bytes: noise(1024) })
      expect((await fetch(`${server.url}${new URL(small.src).pathname}`)).status).to.equal(200)
      server.child.kill('SIGTERM')
      await server.ended
      // On a busy machine, the process may end before it has removed the two rows of the refused file. The next start does so.
      const { files, rows } = await readState(folder)
      const state = { files, rows: rows.filter((row) => !row.startsWith('u ') && !row.endsWith(' going')) }
      expect(state).to.deep.equal(storedState('first', { [small.s3PathOriginal]: [] }))
    })

  // In `npm test`, ../drain.test.ts has the end of the time to drain.
  itLong('exits ten seconds after SIGTERM even when a client does not read', async () => {
    const server = await startProcess({ env: { DATA_DIR: folder } })
    const { src } = await uploadOne(server, { name: 'a.txt', bytes: LARGE })
    const response = await fetch(`${server.url}${new URL(src).pathname}`)
    const asked = performance.now()
    server.child.kill('SIGTERM')
    expect(await server.ended).to.equal(0)
    expect(performance.now() - asked).to.be.at.least(5_000)
    await response.body?.cancel().catch(() => {})
  })

  describe('with a secret of the operator', () => {
    const secret = 'a-secret-of-the-operator'
    let dataDir: string
    let server: RunningServer
    before(async () => {
      dataDir = await temporaryFolder()
      server = await startProcess({
        script: ['--import', WATCH_MODULES, ...BUILT_SERVER],
        env: {
          DATA_DIR: dataDir,
          CLIENT_TOKEN: 'pub_of_mine',
          SECRET_CLIENT_TOKEN: secret,
          METRICS_PORT: '0',
          ...NAMES,
        },
      })
    })
    after(async () => {
      server.child.kill('SIGKILL')
      await server.ended
      await rm(dataDir, { recursive: true })
    })

    it('warns about former and misspelt names of variables, once each', () => {
      const warnings = logged(server).filter(({ msg }) => /is now called|is not a setting/.test(String(msg)))
      expect(warnings.map(({ level }) => level)).to.deep.equal([40, 40])
      expect(warnings.map(({ msg }) => String(msg).replace(/\..*/, ''))).to.deep.equal([
        'TRANSFORM_HANG_SECONDS is now called TRANSFORM_KILL_SECONDS',
        'UPLOAD_MAX_BYTE is not a setting',
      ])
    })

    it('logs that it is ready, with its process id', () => {
      const ready = server
        .output()
        .split('\n')
        .find((line) => line.includes('"msg":"ready"'))
      expect(ready?.match(/"pid":\d+/g)).to.deep.equal([`"pid":${server.pid}`])
    })

    it('answers malformed requests, too', async () => {
      expect(await sendBytes(server, 'nonsense\r\n\r\n')).to.include('application/problem+json')
      await eventually(() => expect(server.output()).to.include('"reason":"Invalid method encountered"'))
    })

    // Those of several processes: processes.test.ts.
    it('serves its metrics on their own port, on the loopback interface only', async () => {
      await eventually(() => expect(metricsUrl(server)).to.match(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/))
      const url = metricsUrl(server)
      const labels = { route: '/healthz', status: '200' }
      for (let i = 0; i < 3; i += 1)
        await exchange(server, labels.route, { headers: { Connection: 'close' } })
      await eventually(async () => {
        const text = await (await fetch(url)).text()
        expect(sampleOf(text, 'sluice_http_requests_total', labels)).to.equal(3)
      })
      expect((await fetch(url)).headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/)
      expect((await fetch(new URL('/', url))).status).to.equal(404)
      expect((await fetch(url, { method: 'POST' })).status).to.equal(405)
      expect((await exchange(server, '/metrics')).status).to.equal(404)
    })

    it('is named to another process that shall use its data folder, and continues', async () => {
      const error = await rejection(startService({ dataDir }))
      expect(String(error)).to.include(`DATA_DIR ${dataDir} is in use by process ${server.pid}`)
      expect((await fetch(`${server.url}/readyz`)).status).to.equal(200)
    })

    it('lets a download in progress finish after SIGTERM, and accepts no new request', async () => {
      const { src } = await uploadOne(server, { name: 'a.txt', bytes: LARGE })
      const response = await fetch(`${server.url}${new URL(src).pathname}`)
      server.child.kill('SIGTERM')
      await eventually(async () =>
        expect(await fetch(`${server.url}/healthz`).catch(() => 'refused')).to.equal('refused'),
      )
      expect((await response.arrayBuffer()).byteLength).to.equal(LARGE.length)
      expect(await server.ended).to.equal(0)
    })

    it('has printed no secret', () => {
      expect(server.output()).to.include('pub_of_mine').and.not.include(secret)
    })

    it('has loaded the packages for S3, Redis and webhooks only when they are used', () => {
      expect(server.output())
        .to.match(/^loads sharp$/m)
        .and.not.match(/^loads (@aws-sdk|bullmq|ioredis|undici)/m)
    })
  })

  describe('without tokens, by the command line of the Procfile', () => {
    let dataDir: string
    let server: RunningServer
    before(async () => {
      dataDir = await temporaryFolder()
      // As a Docker volume is.
      await chmod(dataDir, 0o755)
      const [, line = ''] = /^web: (.+)$/m.exec(await readFile(join(PROJECT, 'Procfile'), 'utf8')) ?? []
      const [program = '', ...script] = line.split(' ')
      server = await startProcess({ program, script, env: { DATA_DIR: dataDir, LOG_LEVEL: 'error' } })
    })
    after(async () => {
      server.child.kill('SIGKILL')
      await server.ended
      await rm(dataDir, { recursive: true })
    })

    it('logs one line without a terminal, and keeps the tokens in a file that only their owner can read', async () => {
      const lines = server.output().trim().split('\n')
      expect(lines).to.have.length(1)
      expect(JSON.parse(lines[0] ?? '')).to.deep.include({
        level: 30,
        msg: `Sluice is ready at ${server.url.replace('127.0.0.1', 'localhost')}`,
        version: version(),
        bucket: 'disk',
        index: 'embedded',
        clientToken: server.tokens.clientToken,
        secretIn: join(dataDir, 'credentials.json'),
      })
      expect(server.output()).to.not.include(server.tokens.secretClientToken)
      const { mode } = await stat(join(dataDir, 'credentials.json'))
      expect(mode & 0o777).to.equal(0o600)
    })

    it('stores files that only their owner can read', async () => {
      const { src } = await uploadOne(server, { name: 'a.png', bytes: await picture() })
      expect((await fetch(`${src}?w=20`)).status).to.equal(200)
      expect(await readdir(join(dataDir, 'index'))).to.not.deep.equal([])
      expect(await readableByOthers(dataDir)).to.deep.equal([])
    })

    it('exits at once at a second Ctrl-C, unless it is the copy that npm forwards', async () => {
      const { src } = await uploadOne(server, { name: 'a.txt', bytes: LARGE })
      const response = await fetch(`${server.url}${new URL(src).pathname}`)
      server.child.kill('SIGINT')
      await pause(100)
      server.child.kill('SIGINT')
      await pause(1_200)
      expect(server.child.signalCode ?? server.child.exitCode, 'the first two are one').to.equal(null)
      server.child.kill('SIGINT')
      // After the ten seconds that requests in progress have, it would exit with a code.
      expect(await server.ended).to.equal('SIGINT')
      await response.body?.cancel().catch(() => {})
    })

    it('has files that only their owner can read, also after a command that opens the index itself', async () => {
      server.child.kill('SIGTERM')
      await server.ended
      const script = [join(PROJECT, 'dist', 'src', 'cli.js'), 'check']
      const command = run({ script, env: { DATA_DIR: dataDir } })
      expect(await command.ended, command.output()).to.equal(0)
      expect(await readableByOthers(dataDir)).to.deep.equal([])
    })

    it('has the same tokens at its next start', async () => {
      server.child.kill('SIGTERM')
      await server.ended
      const next = await startService({ dataDir })
      expect(next.tokens).to.deep.equal(server.tokens)
      await next.stop({ keepData: true })
    })
  })

  itLong('does not start when a newer version has stored the index in Redis', async () => {
    const env = await redisEnv(7300)
    await inRedis(env.REDIS_URL ?? '', (redis) => redis.set('{sluice}:layout', 3))
    const { code, output } = await runToEnd({ ...env, DATA_DIR: folder }, [])
    await emptyRedis(env.REDIS_URL ?? '')
    expect(code).to.equal(1)
    expect(output).to.include('layout 3 of a newer version')
  })

  it('does not start on records of a newer version', async () => {
    const dataDir = await temporaryFolder()
    const first = await startService({ dataDir })
    await first.stop({ keepData: true })
    const record = join(dataDir, 'bucket', 'first', clientRecordKey('first'))
    const { layout, ...rest } = JSON.parse(await readFile(record, 'utf8'))
    expect(layout).to.equal(1)
    await writeFile(record, JSON.stringify({ ...rest, layout: 2 }))
    const { code, output } = await runToEnd({ DATA_DIR: dataDir }, [])
    expect(code).to.equal(1)
    expect(output).to.include('The records in the bucket have the layout 2 of a newer version')
    await rm(dataDir, { recursive: true })
  })

  it('does not start when the data folder cannot be created, or its index cannot be opened', async () => {
    // Where the system allows no folder; a recursive mkdir does not report it.
    expect(String(await rejection(startService({ dataDir: '/proc/sluice' })))).to.include(
      'DATA_DIR /proc/sluice cannot be created',
    )
    await writeFile(join(folder, 'index'), 'no folder')
    expect(String(await rejection(startService({ dataDir: folder })))).to.include(
      `the index in DATA_DIR ${folder} cannot be opened: EEXIST`,
    )
  })
})

async function readableByOthers(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const { mode } = await stat(path).catch(() => ({ mode: 0 }))
    if ((mode & 0o077) !== 0) found.push(`${path} ${(mode & 0o777).toString(8)}`)
  }
  return found
}

/** What a server has logged so far. */
function logged(server: RunningServer): Array<Record<string, unknown>> {
  const lines = server.output().split('\n').slice(0, -1)
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
}
