import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import sharp from 'sharp'
import { eventually } from '../../../support/eventually.ts'
import { MIB, peakBytes } from '../../../support/heavy.ts'
import {
  blankPng,
  boastingAvif,
  boastingPng,
  entityBomb,
  externalEntity,
  externalReferences,
  hugeStrip,
  manyElements,
  manyFilters,
  manyFrames,
  manyPages,
  nestedLayers,
  nestedUses,
  textBomb,
} from '../../../support/requests/attacks.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { type RunningServer, startProcess } from '../../../support/servers/process.ts'
import { itLong, sized } from '../../../support/sized.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const LIMIT_BYTES = 400 * MIB
// For what is sure to take too long.
const SHORT_HANG_SECONDS = 1
// Of 49 megapixels each: two at once would be more than a child's limit.
const PICTURES = sized(2, 4)
const PAGES = 300_000
const FRAMES = 1_500_000

// As TRANSFORM_MAX_MEMORY_BYTES has it, and what a process may take between two looks.
const CHILD_LIMIT_BYTES = 1_000_000_000
const OVERSHOOT_BYTES = 500_000_000

const flat = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#f00' } })

const UNREADABLE = /that can be decoded/
const TOO_LONG = /takes too long/
const TOO_MANY_PIXELS = /pixels over all frames/

/** What it is, its file, what is asked for, and the picture or refusal that it may end in. */
type Attack = readonly [
  what: string,
  make: () => Buffer | Promise<Buffer>,
  query: string,
  ends: 'made' | RegExp | { orMade: RegExp },
]

const ATTACKS: readonly Attack[] = [
  ['a PNG of 900 megapixels', () => boastingPng(30_000, 30_000), 'w=10', TOO_MANY_PIXELS],
  ['a PNG whose 900 packed texts become 7 GB', () => textBomb(900), 'w=4', 'made'],
  [
    'a GIF of 10,000 frames',
    () => manyFrames({ width: 50, height: 50, frames: 10_000 }),
    'w=10',
    /at most 5000 frames/,
  ],
  ['an SVG whose entities become a billion words', entityBomb, 'w=10', /without entities/],
  ['an SVG of a million elements', () => manyElements(1_000_000), 'w=100', /at most \d+ bytes/],
  ['an SVG of 150 filters, each as large as the picture', () => manyFilters(150), 'w=3000', TOO_LONG],
  [
    'a TIFF of one strip of 4 GB',
    () => hugeStrip({ width: 7000, height: 7000, compression: 1 }),
    'w=10',
    UNREADABLE,
  ],
  [
    'a TIFF of a compression that few know',
    () => hugeStrip({ width: 70, height: 70, compression: 34_892 }),
    'w=10',
    UNREADABLE,
  ],
  [
    'an AVIF that says it had 900 megapixels',
    () => boastingAvif({ width: 30_000, height: 30_000 }),
    'w=10',
    TOO_MANY_PIXELS,
  ],
  [
    'an AVIF that says it had 49 megapixels',
    () => boastingAvif({ width: 7000, height: 7000 }),
    'w=10',
    UNREADABLE,
  ],
  [
    'a JPEG that ends within its header',
    async () => (await flat(3000, 2000).jpeg().toBuffer()).subarray(0, 200),
    'w=10',
    UNREADABLE,
  ],
  [
    'a JPEG behind the first bytes of a PNG',
    async () => Buffer.concat([boastingPng(9, 9).subarray(0, 20), await flat(90, 90).jpeg().toBuffer()]),
    'w=10',
    UNREADABLE,
  ],
]

// For the long tests: they take long, or end in the way of one above.
const MORE_ATTACKS: readonly Attack[] = [
  [
    'a GIF of 5,000 large frames',
    () => manyFrames({ width: 1000, height: 700, frames: 5000 }),
    'w=10',
    TOO_MANY_PIXELS,
  ],
  [
    'an SVG of layers around layers by reference',
    () => nestedLayers(200),
    'w=3000',
    /too long|too much memory/,
  ],
  [
    'a TIFF of 900 megapixels',
    () => hugeStrip({ width: 30_000, height: 30_000, compression: 5 }),
    'w=10',
    TOO_MANY_PIXELS,
  ],
  ['a PNG whose 19 packed texts become 150 MB', () => textBomb(19), 'w=4', 'made'],
  ['a PNG whose packed international texts become 7 GB', () => textBomb(900, 'iTXt'), 'w=4', 'made'],
  ['an interlaced PNG of 49 megapixels', () => blankPng(7000, 7000, { interlaced: true }), 'q=1', 'made'],
  [
    `a GIF of ${FRAMES} frames`,
    () => manyFrames({ width: 1, height: 1, frames: FRAMES }),
    'f=png',
    /at most 5000 frames/,
  ],
  ['an SVG of 50,000 elements', () => manyElements(50_000), 'w=100', 'made'],
  ['an SVG of a billion elements by reference', () => nestedUses(9), 'w=100', /too long|decoded/],
  // On a fast machine its first page is made within the limit.
  [`a TIFF of ${PAGES} pages`, () => manyPages(PAGES), 'w=10', { orMade: /too long|decoded/ }],
  ['an AVIF to be made of 49 megapixels', () => blankPng(7000, 7000), 'f=avif', /too long|too much memory/],
]

/** Whether it may only end by the time that it takes. */
const isSlow = ([, , , ends]: Attack) =>
  ends !== 'made' && String('orMade' in ends ? ends.orMade : ends).includes('too long')

describe('attacks', function () {
  this.timeout(300_000)
  let dataDir: string
  let server: RunningServer
  let impatientDir: string
  let impatient: RunningServer
  before(async () => {
    dataDir = await temporaryFolder()
    server = await startProcess({ env: { DATA_DIR: dataDir, LOG_LEVEL: 'error' } })
    impatientDir = await temporaryFolder()
    impatient = await startProcess({
      env: {
        DATA_DIR: impatientDir,
        LOG_LEVEL: 'error',
        TRANSFORM_HANG_SECONDS: String(SHORT_HANG_SECONDS),
      },
    })
  })
  after(async () => {
    for (const running of [server, impatient]) {
      running.child.kill('SIGTERM')
      await running.ended
    }
    for (const folder of [dataDir, impatientDir]) await rm(folder, { recursive: true, force: true })
  })

  for (const attack of [...ATTACKS, ...sized([], MORE_ATTACKS)]) {
    const [what, make, query, ends] = attack
    it(`withstands ${what}`, async () => {
      const of = isSlow(attack) ? impatient : server
      const { src } = await uploadOne(of, { name: 'a.bin', bytes: await make() })
      const children = watchChildren(of.pid)
      const { status, body } = await exchange(of, `${new URL(src).pathname}?${query}`)
      const most = await children.most()
      const refusal = ends === 'made' ? undefined : 'orMade' in ends ? ends.orMade : ends
      if (refusal === undefined || (refusal !== ends && status === 200)) expect(status).to.equal(200)
      else
        expect({ status, detail: JSON.parse(String(body)).detail })
          .to.have.property('detail')
          .that.matches(refusal)
      expect(await peakBytes(of), 'of the web process').to.be.below(LIMIT_BYTES)
      expect(most, 'of a child').to.be.below(CHILD_LIMIT_BYTES + OVERSHOOT_BYTES)
    })
  }

  itLong(`renders ${PICTURES} images of 49 megapixels requested at once, one after the other`, async () => {
    // The content does not matter: the decoder allocates by the number of pixels.
    const bytes = await flat(7000, 7000).jpeg({ quality: 40, progressive: true }).toBuffer()
    const { src } = await uploadOne(server, { name: 'a.bin', bytes })
    const children = watchChildren(server.pid)
    const made = await Promise.all(
      Array.from({ length: PICTURES }, (_, i) => exchange(server, `${new URL(src).pathname}?q=${20 + i}`)),
    )
    expect(made.map(({ status }) => status)).to.deep.equal(Array(PICTURES).fill(200))
    expect(await peakBytes(server), 'of the web process').to.be.below(LIMIT_BYTES)
    expect(await children.mostTogether(), 'of all children').to.be.below(CHILD_LIMIT_BYTES + OVERSHOOT_BYTES)
  })

  // Of images that are requested again and again: ../../memory/steady-memory.test.ts.
  if (sized(false, true))
    it('retains no memory of large images, each of another size, one after the other', async () => {
      const photos = [
        [6000, 4000],
        [4000, 3000],
      ].map(async ([width = 0, height = 0]) => {
        return uploadOne(server, { name: 'a.jpg', bytes: await flat(width, height).jpeg().toBuffer() })
      })
      const more = ['w=3000&f=webp', 'w=4800', 'w=3000&f=png', 'q=90', 'w=2600&f=webp', 'flip', 'f=png']
      for (const query of ['w=4900', 'w=2000&f=png', ...more]) {
        for (const { src } of await Promise.all(photos)) {
          const { status } = await exchange(server, `${new URL(src).pathname}?${query}`)
          expect(status, query).to.equal(200)
        }
        expect(await peakBytes(server), query).to.be.below(LIMIT_BYTES)
      }
    })

  it('fetches nothing that an SVG refers to', async () => {
    let asked = 0
    const other = createServer((_, res) => {
      asked += 1
      res.end()
    })
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/a.svg`
    for (const bytes of [url, 'file:///etc/passwd'].flatMap((to) => [
      externalReferences(to),
      externalEntity(to),
    ])) {
      const { src } = await uploadOne(server, { name: 'a.svg', bytes })
      const { status } = await exchange(server, `${new URL(src).pathname}?w=10`)
      expect(status).to.be.oneOf([200, 422])
    }
    expect(asked).to.equal(0)
    other.close()
  })

  it('exits with all its child processes', async () => {
    const working = async ({ pid }: RunningServer) => {
      const pids = await childrenOf(pid)
      expect(pids).to.have.length.above(0)
      return pids
    }
    const { src } = await uploadOne(impatient, { name: 'a.svg', bytes: manyFilters(150) })
    const left = exchange(impatient, `${new URL(src).pathname}?w=2999`).catch(() => undefined)
    await eventually(() => working(impatient))
    const pids = await working(impatient)
    impatient.child.kill('SIGKILL')
    await impatient.ended
    await left
    await eventually(() => expect(pids.filter(isAlive)).to.deep.equal([]))
    const small = await uploadOne(server, { name: 'a.svg', bytes: manyFilters(1) })
    await exchange(server, `${new URL(small.src).pathname}?w=20`)
    const more = await working(server)
    server.child.kill('SIGTERM')
    expect(await server.ended).to.equal(0)
    expect(more.filter(isAlive)).to.deep.equal([])
  })
})

/** Processes that this one has started and that live: proc(5). */
async function childrenOf(pid: number): Promise<number[]> {
  const pids = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return pids.trim().split(' ').filter(Boolean).map(Number)
}

/** The most that its children have in memory while they are watched: one of them, and all of them. */
function watchChildren(pid: number) {
  let most = 0
  let mostTogether = 0
  const look = async () => {
    const sizes: number[] = []
    for (const child of await childrenOf(pid)) {
      const pages = await readFile(`/proc/${child}/statm`, 'utf8').catch(() => '0 0')
      sizes.push(Number(pages.split(' ')[1]) * 4096)
    }
    most = Math.max(most, ...sizes)
    mostTogether = Math.max(
      mostTogether,
      sizes.reduce((sum, size) => sum + size, 0),
    )
  }
  const looking = setInterval(() => void look(), 20)
  const end = async () => {
    clearInterval(looking)
    await look()
  }
  return { most: () => end().then(() => most), mostTogether: () => end().then(() => mostTogether) }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
