import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { pluginFolder, recorded, recorder, slow } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { inTime } from '../../support/promised.ts'
import { entriesOf, manifestOf } from '../../support/requests/archive.ts'
import { deleteFile, postFiles, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { BOUNDARY, MULTIPART, multipart } from '../../support/requests/multipart.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import type { RunningServer } from '../../support/servers/process.ts'
import { startFailingCluster } from '../../support/servers/redis-cluster.ts'
import { type AnyRedis, startRedis } from '../../support/servers/redis-server.ts'
import { startService } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'
import { storedState } from '../../support/stored/state.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const ZIPS = 4

const KILLED = {
  begin: ({ redis }: Fleet) => redis.stop(),
  end: ({ redis }: Fleet) => redis.start(),
}
const FROZEN = {
  begin: async ({ redis }: Fleet) => redis.freeze(),
  end: async ({ redis }: Fleet) => redis.thaw(),
}

interface Outage {
  redis: () => Promise<AnyRedis>
  begin(fleet: Fleet): Promise<void>
  end(fleet: Fleet): Promise<void>
}

const OUTAGES: Record<string, Outage> = {
  'Redis is frozen, and continues': { redis: () => startRedis({ fails: true }), ...FROZEN },
  'Redis is killed, and comes back with its data': {
    redis: () => startRedis({ appendOnly: true, fails: true }),
    ...KILLED,
  },
  'Redis is killed, and comes back empty': { redis: () => startRedis({ fails: true }), ...KILLED },
  // A node of several: redis-failover.test.ts.
  'Redis Cluster is frozen, and continues': { redis: () => startFailingCluster(), ...FROZEN },
  'Redis Cluster is killed, and comes back with its data': {
    redis: () => startFailingCluster({ appendOnly: true }),
    ...KILLED,
  },
  'Redis Cluster is killed, and comes back empty': { redis: () => startFailingCluster(), ...KILLED },
}

// Only a Redis Cluster has several of them.
const PARTITIONED = { INDEX_PARTITIONS: '64' }

// How a connection fails: ../../adapters/redis/connection.test.ts. How an emptied Redis is filled: ../cli/shared.test.ts.
const TRIED = Object.entries(OUTAGES).slice(0, sized(1, undefined))

for (const [what, outage] of TRIED) {
  describe(`a web process whose ${what}`, () => {
    let folder: string
    let fleet: Fleet
    let server: RunningServer
    let bytes: Buffer
    let stored: WireRecord
    let small: Buffer
    let variantKey: string
    before(async () => {
      folder = await temporaryFolder()
      const plugins = await pluginFolder({ 'recorder.js': recorder(join(folder, 'events')) })
      fleet = await newFleet({
        files: 'disk',
        redis: outage.redis,
        env: {
          ...PARTITIONED,
          PLUGINS_DIR: plugins,
          LOG_LEVEL: 'info',
          ZIP_RATE_LIMIT: String(ZIPS),
          ZIP_RATE_WINDOW_SECONDS: '3600',
        },
      })
      server = await fleet.start()
      bytes = await picture()
      stored = await uploadOne(server, { name: 'a.png', bytes })
      const derivative = await exchange(server, `${new URL(stored.src).pathname}?w=40`)
      small = derivative.body
      variantKey = JSON.parse(derivative.headers.etag ?? '')
      await eventually(async () =>
        expect((await fleet.state()).rows).to.include(
          `d first ${stored.s3PathOriginal} ${variantKey} stored`,
        ),
      )
    })
    after(async () => {
      await fleet.end()
      for (const path of [folder, fleet.env.PLUGINS_DIR ?? '']) await rm(path, { recursive: true })
    })
    beforeEach(() => writeFile(join(folder, 'events'), ''))

    const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      inTime(`${method} ${path}`, exchange(server, path, { method, headers }))
    const named = (key: string) => `/v1/image/upload/${server.tokens.clientToken}/${key}`

    /** What is stored, in each way of asking for it. */
    async function servesWhatIsStored() {
      const short = new URL(stored.src).pathname
      const full = named(stored.s3PathOriginal)
      const expectations: Array<[status: number, body: Buffer, answer: ReturnType<typeof get>]> = [
        [200, bytes, get(short)],
        [200, bytes, get(full)],
        [200, bytes, get(`/v1/bucket/${server.tokens.clientToken}/${stored.s3PathOriginal}`)],
        [200, Buffer.alloc(0), get(full, {}, 'HEAD')],
        [206, bytes.subarray(5, 10), get(short, { Range: 'bytes=5-9' })],
        [206, bytes.subarray(-7), get(full, { Range: 'bytes=-7' })],
        [304, Buffer.alloc(0), get(short, { 'If-None-Match': `"${stored.s3PathOriginal}"` })],
        [200, small, get(`${short}?w=40`)],
        [200, small, get(`${full}?w=40`)],
        [200, small, get(named(variantKey))],
        [206, small.subarray(1, 3), get(`${short}?w=40`, { Range: 'bytes=1-2' })],
        [304, Buffer.alloc(0), get(`${short}?w=40`, { 'If-None-Match': `"${variantKey}"` })],
        [304, Buffer.alloc(0), get(named(variantKey), { 'If-None-Match': `"${variantKey}"` })],
      ]
      for (const [i, [status, body, answer]] of expectations.entries()) {
        const received = await answer
        expect(received.status, `answer ${i}`).to.equal(status)
        expect(received.body.equals(body), `body ${i}`).to.equal(true)
        expect(received.headers.etag, `tag ${i}`).to.match(/^"image\/png\//)
      }
    }

    /** All that has to be written down in Redis. */
    async function refusesTheRest() {
      const upload = postFiles(server, [{ name: 'b.png', bytes }])
      const removal = deleteFile(server, stored.s3PathOriginal)
      const cold = fetch(`${server.url}${new URL(stored.src).pathname}?w=41`)
      for (const [name, request] of Object.entries({ upload, removal, cold })) {
        const response = await inTime(name, request)
        expect(response.status, name).to.equal(503)
        expect(Number(response.headers.get('retry-after')), name).to.be.above(0)
        expect(await response.json(), name).to.include({ status: 503, code: 'unavailable' })
      }
    }

    async function zip() {
      const files = [{ w: 40 }, { w: 42 }].map((params, i) => ({
        path: stored.sourceName,
        params,
        name: `${i}`,
      }))
      const response = await inTime('zip', postZip(server, { files }))
      if (response.status !== 200) return response.status
      return manifestOf(entriesOf(Buffer.from(await response.arrayBuffer()))).map(({ code = 200 }) => code)
    }

    describe('while Redis is down', () => {
      before(async () => {
        await outage.begin(fleet)
        // The first to find out, all at the same moment.
        await Promise.all([servesWhatIsStored(), refusesTheRest(), get('/readyz')])
      })

      it('delivers stored files', servesWhatIsStored)

      it('answers all other requests with a 503 in time', refusesTheRest)

      it('bundles stored files, and lists in the manifest what cannot be rendered now', async () => {
        expect(await zip()).to.deep.equal([200, 503])
      })

      it('accepts known clients, and no others', async () => {
        const strange = { secret: 'sec_of_nobody_at_all' }
        expect((await inTime('upload', postFiles(server, [{ name: 'a', bytes }], strange))).status).to.equal(
          401,
        )
        expect((await inTime('zip', postZip(server, { files: [] }))).status).to.equal(400)
        expect((await get(`/v1/image/upload/pub_of_nobody/${stored.sourceName}`)).status).to.equal(404)
        expect((await get(named('7uLnQWbPbKTjBwtqTVAqxy.png'))).status).to.equal(404)
      })

      it('counts rate limits in its memory', async () => {
        const statuses = []
        const files = [{ path: stored.sourceName }]
        for (let i = 0; i <= ZIPS; i += 1) statuses.push((await postZip(server, { files })).status)
        expect(statuses.at(-1)).to.equal(429)
      })

      it('reports degraded, but ready', async () => {
        const { status, body } = await get('/readyz')
        expect(status).to.equal(200)
        const ready = JSON.parse(body.toString())
        expect(ready).to.include({ status: 'degraded' })
        expect(ready.checks).to.include({ bucket: 'ok', index: 'unavailable', ffmpeg: 'ok' })
      })
    })

    describe('when it is back', () => {
      before(async () => {
        await outage.end(fleet)
        await eventually(async () => {
          const { body } = await get('/readyz')
          expect(JSON.parse(body.toString())).to.include({ status: 'ok' })
        })
      })

      it('delivers stored files', servesWhatIsStored)

      it('serves all other requests again, and emits each event once', async () => {
        expect(await zip()).to.deep.equal([200, 200])
        const record = await uploadOne(server, { name: 'b.png', bytes })
        expect((await get(`${new URL(record.src).pathname}?w=41`)).status).to.equal(200)
        for (const { s3PathOriginal: key } of [stored, record]) {
          expect((await deleteFile(server, key)).status).to.equal(200)
          expect((await deleteFile(server, key)).status).to.equal(404)
          expect((await get(named(key))).status).to.equal(404)
        }
        await fleet.sweptLater()
        expect(await fleet.state()).to.deep.equal({ files: [], rows: [] })
        const told = (await recorded(join(folder, 'events'))).map(({ name, event }) => `${name} ${event.key}`)
        const once = told.filter((each) => !each.startsWith('archive.sent')).sort()
        const keys = [stored, record].map(({ s3PathOriginal }) => s3PathOriginal)
        expect(once).to.deep.equal(
          [
            `original.stored ${keys[1]}`,
            `derivative.stored ${keys[0]}_w=42`,
            `derivative.stored ${keys[1]}_w=41`,
            ...keys.map((key) => `original.deleted ${key}`),
          ].sort(),
        )
      })

      it('has not exited, and has logged no unexpected error', () => {
        expect(server.child.exitCode).to.equal(null)
        expect(server.output()).to.not.include('"status":500')
      })
    })
  })
}

describe('a web process that starts while Redis is down', () => {
  it('delivers stored files, and serves all other requests when Redis is available', async () => {
    const fleet = await newFleet({ files: 'disk' })
    try {
      const bytes = await picture()
      const earlier = await startService({ env: fleet.env, dataDir: fleet.env.DATA_DIR ?? '' })
      const stored = await uploadOne(earlier, { name: 'a.png', bytes })
      await earlier.stop({ keepData: true })
      await fleet.redis.stop()

      const server = await fleet.start()
      const path = new URL(stored.src).pathname
      expect((await inTime('get', fetch(server.url + path))).status).to.equal(200)
      expect((await inTime('cold', fetch(`${server.url}${path}?w=40`))).status).to.equal(503)
      expect((await inTime('upload', postFiles(server, [{ name: 'b.png', bytes }]))).status).to.equal(503)

      await fleet.redis.start()
      await eventually(async () => expect((await fetch(`${server.url}${path}?w=40`)).status).to.equal(200))
      const record = await uploadOne(server, { name: 'b.png', bytes })
      for (const { s3PathOriginal } of [stored, record])
        expect((await deleteFile(server, s3PathOriginal)).status).to.equal(200)
      expect(await fleet.state()).to.deep.equal({ files: [], rows: [] })
      server.child.kill('SIGTERM')
      expect(await server.ended).to.equal(0)
    } finally {
      await fleet.end()
    }
  })
})

describe('work in progress when Redis, or a Redis Cluster, goes down', () => {
  const bytes = Buffer.alloc(100_000, 'sluice ')

  const outages: Record<string, Outage> = {
    'Redis is killed': { redis: () => startRedis({ appendOnly: true, fails: true }), ...KILLED },
    'Redis is frozen': { redis: () => startRedis({ fails: true }), ...FROZEN },
    'a Redis Cluster is killed': { redis: () => startFailingCluster({ appendOnly: true }), ...KILLED },
    'a Redis Cluster is frozen': { redis: () => startFailingCluster(), ...FROZEN },
  }
  for (const [what, outage] of Object.entries(outages)) {
    itLong(
      `and ${what}: a derivative is delivered, an upload is a 503 in time, and a sweep cleans up`,
      async () => {
        const folder = await temporaryFolder()
        const plugins = await pluginFolder({ 'slow.js': slow(join(folder, 'transforms')) })
        const fleet = await newFleet({
          files: 'disk',
          redis: outage.redis,
          env: { ...PARTITIONED, PLUGINS_DIR: plugins },
        })
        try {
          const server = await fleet.start()
          const stored = await uploadOne(server, { name: 'a.png', bytes: await picture() })
          const making = exchange(server, `${new URL(stored.src).pathname}?w=40&slow=1500`)
          await eventually(async () =>
            expect(await readFile(join(folder, 'transforms'), 'utf8')).to.not.equal(''),
          )
          const form = new PassThrough()
          form.write(multipart([{ disposition: 'name="file"; filename="b.txt"', bytes }], { end: false }))
          const uploading = exchange(server, '/v1/upload', {
            method: 'POST',
            headers: { Authorization: server.tokens.secretClientToken, 'Content-Type': MULTIPART },
            body: form,
          })
          await eventually(async () => expect((await fleet.state()).rows.join()).to.include('txt pending'))

          await outage.begin(fleet)
          form.end(`\r\n--${BOUNDARY}--\r\n`)
          expect((await inTime('upload', uploading)).status).to.equal(503)
          expect((await inTime('derivative', making)).status).to.equal(200)

          await outage.end(fleet)
          await eventually(async () =>
            expect((await deleteFile(server, stored.s3PathOriginal)).status).to.be.oneOf([200, 404]),
          )
          await fleet.sweptLater()
          // The last step of an upload may still be carried out by a Redis that was frozen: then all of it is there.
          const { rows } = await fleet.state()
          const key = rows[0]?.match(/^o first (text\/txt\/.*) stored$/)?.[1]
          expect(await fleet.state()).to.deep.equal(storedState('first', key ? { [key]: [] } : {}))
          expect(server.output()).to.not.include('"status":500')
        } finally {
          await fleet.end()
          for (const path of [folder, plugins]) await rm(path, { recursive: true })
        }
      },
    )
  }
})
