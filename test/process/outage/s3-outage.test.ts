import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { eventually, SLOWNESS } from '../../support/eventually.ts'
import { MIB, openFiles, residentBytes } from '../../support/heavy.ts'
import { picture } from '../../support/media/images.ts'
import { inTime } from '../../support/promised.ts'
import { entriesOf, manifestOf } from '../../support/requests/archive.ts'
import { deleteFile, postFiles, postZip, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { BOUNDARY, MULTIPART, multipart } from '../../support/requests/multipart.ts'
import { type Fleet, newFleet } from '../../support/servers/fleet.ts'
import type { RunningServer } from '../../support/servers/process.ts'
import { type Fate, type S3Proxy, s3Proxy } from '../../support/servers/s3-proxy.ts'
import { type OwnS3Server, type S3Server, s3Server, startS3 } from '../../support/servers/s3-server.ts'
import { itLong, sized } from '../../support/sized.ts'
import { storedState } from '../../support/stored/state.ts'

// Three parts: two are sent while the third comes.
const LARGE = Buffer.alloc(20 * MIB, 'sluice ')
const TWO_PARTS = LARGE.subarray(0, 9 * MIB)
const SLOW_DOWN: Fate = {
  kind: 'answer',
  status: 503,
  headers: { 'content-type': 'application/xml' },
  body: '<Error><Code>SlowDown</Code></Error>',
}

interface Outage {
  begin(s3: OwnS3Server, proxy: S3Proxy): Promise<void> | void
  end(s3: OwnS3Server, proxy: S3Proxy): Promise<void> | void
}
const OUTAGES: Record<string, Outage> = {
  'does not respond': {
    begin: (_, proxy) => proxy.decide(() => ({ kind: 'stall' })),
    end: (_, proxy) => proxy.decide(() => undefined),
  },
  'is stopped': { begin: (s3) => s3.stop(), end: (s3) => s3.restart() },
  'is frozen': { begin: (s3) => s3.freeze(), end: (s3) => s3.thaw() },
  'answers 503': {
    begin: (_, proxy) => proxy.decide(() => ({ kind: 'answer', status: 503 })),
    end: (_, proxy) => proxy.decide(() => undefined),
  },
  'asks to slow down': {
    begin: (_, proxy) => proxy.decide(() => SLOW_DOWN),
    end: (_, proxy) => proxy.decide(() => undefined),
  },
}

// How each answer of S3 is taken: ../../adapters/bucket/s3-outage.test.ts. In `npm test`, S3 is the one that all tests share, and only the
// proxy fails: a Ceph cluster takes seconds of CPU time to start.
const TRIED = sized(['does not respond'], Object.keys(OUTAGES))

describe('a web process and its S3', function () {
  this.timeout(90_000)
  let s3: S3Server
  /** The one that can be stopped and frozen, in the long run. */
  let own: OwnS3Server | undefined
  let proxy: S3Proxy
  // A process that reaches S3 by the proxy, and one that reaches it directly. A process for each test would take most of the time.
  let proxied: Started
  let direct: Started | undefined
  let fleet: Fleet
  let server: RunningServer
  before(async () => {
    if (sized(false, true)) own = await startS3()
    s3 = own ?? (await sharedServer())
    proxy = await s3Proxy(s3.connection.endpoint)
    proxied = await started(s3, proxy.endpoint)
    if (own) direct = await started(own)
  })
  after(async () => {
    await direct?.fleet.end()
    await proxied.fleet.end()
    await proxy.close()
    await own?.end()
  })
  beforeEach(() => {
    ;({ fleet, server } = direct ?? proxied)
  })
  // The next test uses the same process.
  afterEach(async () => {
    for (const row of (await fleet.state()).rows) {
      const [, key] = /^o first (\S+) stored$/.exec(row) ?? []
      if (key) expect((await deleteFile(server, key)).status).to.equal(200)
    }
    await fleet.sweptLater()
    await nothingIsLeft()
  })

  const pathOf = ({ src }: WireRecord) => new URL(src).pathname
  const begin = (what: string) => OUTAGES[what]?.begin(own as OwnS3Server, proxy)
  const end = (what: string) => OUTAGES[what]?.end(own as OwnS3Server, proxy)
  const nothingIsLeft = async () => expect(await fleet.state()).to.deep.equal({ files: [], rows: [] })

  for (const what of TRIED) {
    it(`which ${what}: 503 in time for all requests that need it, no crash, no leak, and all works afterwards`, async () => {
      if (!/stopped|frozen/.test(what)) ({ fleet, server } = proxied)
      const bytes = await picture()
      const stored = await uploadOne(server, { name: 'a.png', bytes })
      const going = await uploadOne(server, { name: 'b.png', bytes })
      const path = pathOf(stored)
      expect((await exchange(server, `${path}?w=40`)).status).to.equal(200)

      const get = (target: string, init: RequestInit = {}) => fetch(server.url + target, init)
      /** What needs S3: its name, what is answered when all is well, and the answer. */
      const uses = (): Use[] => [
        ['original', 200, get(path)],
        ['range', 206, get(path, { headers: { Range: 'bytes=1-2' } })],
        ['head', 200, get(path, { method: 'HEAD' })],
        ['derivative', 200, get(`${path}?w=40`)],
        ['not found', 404, get(path.replace(/\w{5}\.png/, '11111.png'))],
        ['small upload', 200, postFiles(server, [{ name: 'a.png', bytes }])],
        [
          'two uploads',
          200,
          postFiles(
            server,
            ['c', 'd'].map((name) => ({ name, bytes })),
          ),
        ],
        ['large upload', 200, postFiles(server, [{ name: 'a.txt', bytes: TWO_PARTS }])],
      ]
      const zip = async () => {
        const response = await inTime('zip', postZip(server, { files: [{ path: stored.sourceName }] }))
        if (response.status !== 200) return response.status
        const [entry] = manifestOf(entriesOf(Buffer.from(await response.arrayBuffer())))
        return entry?.code ?? entry?.status
      }
      const allIsWell = async () => {
        const [archived] = await Promise.all([zip(), inTimeAll(uses(), (status, well) => status === well)])
        expect(archived).to.equal('ok')
      }
      const allFails = async () => {
        const more: Use[] = [
          ['cold', 503, get(`${path}?w=41`)],
          ['removal', 503, deleteFile(server, going.s3PathOriginal)],
        ]
        const isRefused = (status: number, _: number, headers: Headers) =>
          status === 503 && Number(headers.get('retry-after')) > 0
        const [archived] = await Promise.all([zip(), inTimeAll([...uses(), ...more], isRefused)])
        expect(archived).to.equal(503)
      }
      await allIsWell()
      const before = { files: await openFiles(server), bytes: await residentBytes(server) }

      await begin(what)
      try {
        for (let i = 0; i < sized(1, 2); i += 1) await allFails()
        const ready = await inTime('readyz', fetch(`${server.url}/readyz`))
        expect(ready.status).to.equal(503)
        const { checks } = (await ready.json()) as { checks: object }
        expect(checks).to.include({ bucket: 'unavailable', index: 'ok', ffmpeg: 'ok' })
        expect((await fetch(`${server.url}/healthz`)).status).to.equal(200)
      } finally {
        await end(what)
      }

      await eventually(async () => expect((await fetch(`${server.url}/readyz`)).status).to.equal(200))
      await allIsWell()
      expect((await exchange(server, `${path}?w=41`)).status).to.equal(200)
      // It was marked before S3 was asked.
      expect((await fetch(`${server.url}${pathOf(going)}`)).status).to.equal(404)
      expect((await deleteFile(server, going.s3PathOriginal)).status).to.equal(200)
      expect(server.child.exitCode).to.equal(null)
      expect(server.output()).to.not.include('"status":500')
      await eventually(async () => {
        expect(await openFiles(server)).to.be.at.most(before.files + 10)
        expect(await residentBytes(server)).to.be.below(before.bytes + 150 * MIB)
      })
      await fleet.sweptLater()
      const state = await fleet.state()
      const originals = state.rows.flatMap((row) => row.match(/^o first (\S+) stored$/)?.[1] ?? [])
      const made = { [stored.s3PathOriginal]: ['w=40', 'w=41'] }
      const known = Object.fromEntries(originals.map((key) => [key, []]))
      expect(state).to.deep.equal(storedState('first', { ...known, ...made }))
      // a, b and four files of each time without an outage; b is deleted.
      expect(originals).to.have.length(1 + 2 * 4)
    })
  }

  for (const what of sized(['does not respond'], ['is stopped', 'is frozen'])) {
    it(`which ${what} in the middle of an upload: a 503 in time, and no object is left after a sweep`, async () => {
      const { form, answer } = startUpload(server)
      form.write(LARGE)
      await eventually(async () =>
        expect((await fleet.state()).files.join()).to.include('half of first/text/txt/'),
      )
      await begin(what)
      try {
        form.end(`\r\n--${BOUNDARY}--\r\n`)
        expect((await inTime('upload', answer)).status).to.equal(503)
      } finally {
        await end(what)
      }
    })
  }

  itLong('which is frozen in the middle of a download: the connection breaks', async () => {
    const record = await uploadOne(server, { name: 'a.txt', bytes: LARGE })
    const response = await fetch(server.url + pathOf(record))
    expect(response.status).to.equal(200)
    await own?.freeze()
    try {
      const outcome = await inTime(
        'body',
        response.arrayBuffer().catch(() => 'broken'),
      )
      expect(outcome).to.equal('broken')
    } finally {
      await own?.thaw()
    }
  })

  it('deletes an upload whose client disconnects after more than two parts', async () => {
    const leaving = new AbortController()
    const { form, answer } = startUpload(server, leaving.signal)
    const left = answer.catch(() => 'left')
    form.write(LARGE)
    await eventually(async () =>
      expect((await fleet.state()).files.join()).to.include('half of first/text/txt/'),
    )
    expect((await fleet.state()).rows).to.not.deep.equal([])
    leaving.abort()
    expect(await left).to.equal('left')
    await eventually(nothingIsLeft)
  })

  for (const what of sized(['does not respond'], ['is stopped', 'is frozen'])) {
    it(`which ${what}: does not start, and reports why`, async () => {
      const later = await newFleet({ s3, ...(own ? {} : { endpoint: proxy.endpoint }) })
      await begin(what)
      try {
        const { ended, output } = later.run()
        expect(await ended, output()).to.equal(1)
        expect(output()).to.include(
          `sluice: S3_BUCKET ${later.env.S3_BUCKET} cannot be used: The bucket cannot be reached.`,
        )
        expect(output()).to.not.include('    at ')
      } finally {
        await end(what)
        await later.end()
      }
    })
  }
})

interface Started {
  fleet: Fleet
  server: RunningServer
}

/** The shared server with a bucket of this suite. Its time limit is the default one, but longer on a slow machine. */
async function sharedServer(): Promise<S3Server> {
  const shared = await s3Server()
  return { ...shared, connection: { ...shared.connection, silenceMs: Math.min(3500 * SLOWNESS, 15_000) } }
}

async function started(s3: S3Server, endpoint?: string): Promise<Started> {
  const fleet = await newFleet({
    s3,
    ...(endpoint ? { endpoint } : {}),
    env: { ZIP_RATE_LIMIT: '1000', HOT_CACHE_BYTES: '0' },
  })
  return { fleet, server: await fleet.start() }
}

type Use = [name: string, well: number, answer: Promise<Response>]

/** Looks at all answers, which come at the same time, and names those that are wrong or late. */
async function inTimeAll(
  uses: readonly Use[],
  isRight: (status: number, well: number, headers: Headers) => boolean,
): Promise<void> {
  const wrong: string[] = []
  await Promise.all(
    uses.map(async ([name, well, answer]) => {
      const response = await inTime(name, answer)
      // Or its connection would stay open.
      await response.arrayBuffer()
      const { status, headers } = response
      if (!isRight(status, well, headers)) wrong.push(`${name}: ${status}`)
    }),
  )
  expect(wrong).to.deep.equal([])
}

/** A form with one file, of which more and more may be written. */
function startUpload(server: RunningServer, signal?: AbortSignal) {
  const form = new PassThrough()
  form.write(multipart([{ disposition: 'name="file"; filename="a.txt"' }], { end: false }).subarray(0, -2))
  const answer = exchange(server, '/v1/upload', {
    method: 'POST',
    headers: { Authorization: server.tokens.secretClientToken, 'Content-Type': MULTIPART },
    body: form,
    ...(signal ? { signal } : {}),
  })
  return { form, answer }
}
