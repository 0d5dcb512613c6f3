import { availableParallelism } from 'node:os'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import sharp from 'sharp'
import type { Engine } from '../../../src/core/plugin-api/plugin.ts'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { sharpEngine, watchedEngine } from '../../support/media/engines.ts'
import { corrupted, picture } from '../../support/media/images.ts'
import { deleteFile, newClient, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { MULTIPART, multipart, postForm, type RawPart } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'
import { itLong, longOnce } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { settled } from '../../support/stored/settled.ts'

const field = (bytes: string, name = 'transforms'): RawPart => ({ disposition: `name="${name}"`, bytes })
const asking = (queries: unknown) => field(JSON.stringify(queries))
const file = (name: string, bytes: Uint8Array | string): RawPart => ({
  disposition: `name="file"; filename="${name}"`,
  bytes,
})

type Transform = { key: string; src: string; state: string }
type Eager = Omit<WireRecord, 'options'> & { options: { transforms?: Transform[] } }

onOneOrTwoBackends('transforms of an upload', (start, backend, itOnce) => {
  const itLongOnce = longOnce(itOnce)
  const watched = watchedEngine()
  let service: Service
  let failingPuts = 0
  before(async () => {
    service = await start({
      engines: [watched.engine],
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, bytes, options) {
          if (failingPuts > 0 && key.includes('_')) {
            failingPuts -= 1
            bytes.destroy()
            throw new Error('a bucket that is broken')
          }
          return bucket.put(key, bytes, options)
        },
      })),
    })
  })
  afterEach(() => {
    watched.release()
    failingPuts = 0
  })

  function recordsOf(answer: Answer): Eager[] {
    expect(answer.status, answer.body.toString()).to.equal(200)
    return jsonOf(answer) as unknown as Eager[]
  }

  async function uploaded(queries: unknown, at = service): Promise<Eager> {
    const [record] = recordsOf(await postForm(at, [asking(queries), file('a.png', await picture())]))
    return record as Eager
  }

  /** What is stored next to an original, by the suffix of its key. */
  async function derivatives({ s3PathOriginal }: Pick<Eager, 's3PathOriginal'>, at = service) {
    const prefix = `first/${s3PathOriginal}_`
    return (await at.objects())
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
  }

  it('are listed in the record, rendered without a request, and then only delivered', async () => {
    const record = await uploaded(['w=100', '?h=30&f=webp', 'width=100&height=100&fit=inside'])
    const { src, s3PathOriginal } = record
    expect(record.options).to.deep.equal({
      transforms: [
        { key: `${s3PathOriginal}_w=100`, src: `${src}?w=100`, state: 'waiting' },
        { key: `${s3PathOriginal}_f=webp&h=30`, src: `${src}?h=30&f=webp`, state: 'waiting' },
        {
          key: `${s3PathOriginal}_fit=inside&h=100&w=100`,
          src: `${src}?width=100&height=100&fit=inside`,
          state: 'waiting',
        },
      ],
    })
    await eventually(async () =>
      expect(await derivatives(record)).to.have.members(['w=100', 'f=webp&h=30', 'fit=inside&h=100&w=100']),
    )
    await settled(service)
    const { opened } = watched
    for (const { key, src } of record.options.transforms ?? []) {
      const answer = await exchange(service, src)
      expect(answer.headers.etag).to.equal(`"${key}"`)
      const { width, height } = await sharp(answer.body).metadata()
      expect([`${width}x${height}`]).to.deep.equal([key.endsWith('h=30') ? '40x30' : '100x75'])
    }
    expect(watched.opened).to.equal(opened)
  })

  itOnce('are rendered for every file, wherever the field is, and in addition to info', async () => {
    const bytes = await picture()
    const answer = await postForm(service, [
      file('a.png', bytes),
      asking(['w=50']),
      file('b.png', bytes),
      field('1', 'info'),
    ])
    const records = recordsOf(answer)
    expect(records).to.have.length(2)
    for (const record of records) {
      expect(record.options).to.have.all.keys('info', 'transforms')
      await eventually(async () => expect(await derivatives(record)).to.have.members(['w=50', 'info']))
    }
  })

  itLongOnce('can be up to twenty', async () => {
    const record = await uploaded(Array.from({ length: 20 }, (_, i) => `w=${i + 1}`))
    await eventually(async () => expect(await derivatives(record)).to.have.length(20))
  })

  itOnce('are joined by a request that arrives during the render', async () => {
    const { opened } = watched
    watched.hold()
    const { options } = await uploaded(['w=77'])
    await eventually(() => expect(watched.opened).to.equal(opened + 1))
    const answers = [1, 2, 3].map(() => exchange(service, options.transforms?.[0]?.src ?? ''))
    await pause(50)
    watched.release()
    for (const { status } of await Promise.all(answers)) expect(status).to.equal(200)
    await settled(service)
    expect(watched.opened).to.equal(opened + 1)
  })

  for (const step of ['open', 'render'] as const) {
    itOnce(`stop when their original is deleted before they ${step}`, async () => {
      let reached = 0
      let release = () => {}
      const gate = new Promise<void>((done) => {
        release = done
      })
      const halt = async () => {
        reached += 1
        await gate
      }
      const engine: Engine<'sharp'> = {
        ...sharpEngine,
        async open(...given) {
          if (step === 'open') await halt()
          return sharpEngine.open(...given)
        },
        async render(...given) {
          if (step === 'render') await halt()
          return sharpEngine.render(...given)
        },
      }
      const halting = await start({ engines: [engine] })
      const record = await uploaded(['f=webp&q=80&w=71', 'f=webp&q=80&w=72'], halting)
      await eventually(() => expect(reached).to.equal(1))
      expect((await deleteFile(halting, record.s3PathOriginal)).status).to.equal(200)
      release()
      // Their turn comes when those have ended.
      const next = await uploaded(['f=webp&q=80&w=73'], halting)
      await eventually(async () =>
        expect(await derivatives(next, halting)).to.deep.equal(['f=webp&q=80&w=73']),
      )
      await settled(halting)
      expect(await derivatives(record, halting)).to.deep.equal([])
      expect(reached).to.equal(2)
      const failed = halting.log.lines.filter(
        ({ level, fields }) => level !== 'info' && fields.kind === 'derive',
      )
      expect(failed).to.deep.equal([])
    })
  }

  it('are not retried when they cannot be rendered, and the ones after them continue', async () => {
    const png = await picture()
    const parts = [asking(['w=81']), file('broken.png', corrupted(png)), file('whole.png', png)]
    const [broken, whole] = recordsOf(await postForm(service, parts)) as [Eager, Eager]
    await eventually(async () => expect(await derivatives(whole)).to.deep.equal(['w=81']))
    expect(await derivatives(broken)).to.deep.equal([])
    const { status } = await exchange(service, broken.options.transforms?.[0]?.src ?? '')
    expect(status).to.equal(422)
    const failed = service.log.lines.filter(({ message }) => message === 'job failed')
    expect(failed).to.have.length(1)
  })

  itLong('are rendered again later when they could not be stored', async () => {
    failingPuts = 1
    const record = await uploaded(['w=91'])
    await eventually(async () => expect(await derivatives(record)).to.deep.equal(['w=91']))
  })

  itOnce("have the key of the image's own width when they are wider", async () => {
    const record = await uploaded(['w=5000', 'w=4000'])
    const keys = record.options.transforms?.map(({ key }) => key)
    expect(keys).to.deep.equal([0, 1].map(() => `${record.s3PathOriginal}_w=400`))
    await eventually(async () => expect(await derivatives(record)).to.deep.equal(['w=400']))
  })

  itOnce('are rendered for files of other clients', async () => {
    const other = await newClient(service)
    const answer = await postForm(other, [asking(['w=61']), file('a.png', await picture())])
    const [record] = recordsOf(answer) as [Eager]
    await eventually(async () =>
      expect(await service.objects()).to.include(`${other.id}/${record.s3PathOriginal}_w=61`),
    )
  })

  it('continue in the next process after a stop', async () => {
    const held = watchedEngine()
    held.hold()
    const first = await start({ engines: [held.engine] })
    const record = await uploaded(['w=41', 'w=42', 'w=43'], first)
    await eventually(() => expect(held.opened).to.equal(1))
    const { dataDir } = first
    await first.stop({ keepData: true })
    expect(held.rendered).to.equal(0)

    const second = await start({ dataDir })
    await eventually(async () =>
      expect(await derivatives(record, second)).to.have.members(['w=41', 'w=42', 'w=43']),
    )
  })

  it('let requests go first, also later ones', async () => {
    const busy = watchedEngine()
    const puts: string[] = []
    const crowded = await start({
      // As scripts/node.sh has it: three more than there are cores run at once.
      env: { UV_THREADPOOL_SIZE: String(availableParallelism() + 5) },
      engines: [busy.engine],
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, bytes, options) {
          await bucket.put(key, bytes, options)
          if (key.includes('_')) puts.push(key.slice(key.indexOf('_') + 1))
        },
      })),
    })
    const first = await uploaded([], crowded)
    // Fewer than may wait, whatever the machine.
    const crowd = Math.min(10 * availableParallelism(), 100)
    const ask = (from: number) =>
      Array.from({ length: crowd }, (_, i) => exchange(crowded, `${first.src}?h=5&w=${from + i}`))
    busy.hold()
    const earlier = ask(1000)
    // So many run at once: of one address all but two.
    await eventually(() => expect(busy.opened).to.equal(availableParallelism() + 1))
    await uploaded(['w=12'], crowded)
    const arrived = (count: number) => eventually(() => expect(crowded.arrived()).to.equal(count))
    await arrived(crowd + 2)
    const later = ask(2000)
    await arrived(2 * crowd + 2)
    // Long enough for its render to be in line, if it did not wait.
    await pause(300)
    busy.release()
    await Promise.all([...earlier, ...later])
    await eventually(() => expect(puts).to.include('w=12'))
    expect(puts.indexOf('w=12')).to.be.above(1.8 * crowd)
  })

  // The rest does not depend on the storage.
  if (backend !== EMBEDDED) return

  it('are an empty list for an empty array, and absent for an empty field', async () => {
    for (const [parts, options] of [
      [[asking([])], { transforms: [] }],
      [[field('')], {}],
    ] as const) {
      const [record] = recordsOf(await postForm(service, [...parts, file('a.txt', 'some text')]))
      expect(record?.options).to.deep.equal(options)
    }
  })

  describe('are refused with a 400 that names the invalid one, and nothing is stored', () => {
    const cases: Record<string, [transforms: string, members: Record<string, unknown>, detail: RegExp]> = {
      'that are no JSON': [
        'w=100',
        { param: 'transforms' },
        /expected a JSON array of at most 20 query strings/,
      ],
      'that are no array': ['{"w":100}', { param: 'transforms' }, /expected a JSON array .* received "\{/],
      'that are 21': [
        JSON.stringify(Array.from({ length: 21 }, () => 'w=1')),
        { param: 'transforms' },
        /at most 20/,
      ],
      'of which one is no text': [
        '["w=1", 5]',
        { param: 'transforms[1]' },
        /expected a query string of at most 2000 characters for transforms\[1\] but received "5"/,
      ],
      'of which one is too long': [
        JSON.stringify(['w=1', `f=${'x'.repeat(2000)}`]),
        { param: 'transforms[1]' },
        /2000 characters/,
      ],
      'of which one is out of range': [
        '["w=1", "w=0"]',
        { param: 'w', expected: 'an integer from 1 to 5000 px or auto', received: '0', transform: 1 },
        /for w but received "0", in transforms\[1\]: "w=0"$/,
      ],
      'of which one has an unknown parameter': [
        '["widht=5"]',
        { code: 'unknown_parameter', nearest: 'width', transform: 0 },
        /did you mean "width"\?, in transforms\[0\]/,
      ],
      'of which one asks for nothing': [
        '["w=1", ""]',
        { param: 'transforms[1]' },
        /expected at least one parameter of a transformation for transforms\[1\]/,
      ],
      'whose format is that of a request to come': [
        '["w=1&f=auto"]',
        { param: 'transforms[0]' },
        /expected no value auto of f, w and dpr/,
      ],
      'that are too long': [JSON.stringify(['x'.repeat(70_000)]), { param: 'transforms' }, /64 KiB/],
    }
    for (const [what, [transforms, members, detail]] of Object.entries(cases)) {
      it(what, async () => {
        const before = await service.objects()
        const bytes = await picture()
        for (const parts of [
          [field(transforms), file('a.png', bytes)],
          [file('a.png', bytes), field(transforms)],
          [file('a.png', bytes), field(transforms), file('b.png', bytes)],
        ]) {
          const answer = await postForm(service, parts)
          expect(answer.status, answer.body.toString()).to.equal(400)
          expect(jsonOf(answer)).to.include(members)
          expect(jsonOf(answer).detail).to.match(detail)
        }
        expect(await service.objects()).to.deep.equal(before)
      })
    }

    it('of a file that does not support it', async () => {
      const before = await service.objects()
      const parts = [file('a.png', await picture()), file('b.woff2', 'wOF2\0\x01\0\0'), asking(['w=1'])]
      const answer = await postForm(service, parts)
      expect(answer.status).to.equal(422)
      expect(jsonOf(answer).detail).to.match(/shown as one, for w but this file is woff2/)
      expect(await service.objects()).to.deep.equal(before)
    })

    it('after a file that is already stored', async () => {
      const before = await service.objects()
      const body = new Readable({ read() {} })
      const form = multipart([file('a.png', await picture()), asking(['w=0'])])
      const at = form.indexOf('name="transforms"')
      body.push(form.subarray(0, at))
      const answer = exchange(service, '/v1/upload', {
        method: 'POST',
        headers: { Authorization: service.tokens.secretClientToken, 'Content-Type': MULTIPART },
        body,
      })
      await eventually(async () => expect(await service.objects()).to.have.length(before.length + 1))
      body.push(form.subarray(at))
      body.push(null)
      expect((await answer).status).to.equal(400)
      expect(await service.objects()).to.deep.equal(before)
    })

    it('before the file has been sent', async () => {
      const begun: string[] = []
      const strict = await start({
        wrapStorage: ({ buckets, index }) => ({
          buckets,
          index: {
            ...index,
            beginUpload(ref, leaseUntil) {
              begun.push(ref.key)
              return index.beginUpload(ref, leaseUntil)
            },
          },
        }),
      })
      const answer = await postForm(strict, [asking(['w=0']), file('a.png', await picture())])
      expect(answer.status).to.equal(400)
      expect(begun).to.deep.equal([])
    })
  })
})
