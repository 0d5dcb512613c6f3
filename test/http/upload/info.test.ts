import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { watchedEngine } from '../../support/media/engines.ts'
import { corrupted, photograph, picture } from '../../support/media/images.ts'
import type { WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import { postForm, type RawPart } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'

const field = (name: string, bytes: string): RawPart => ({ disposition: `name="${name}"`, bytes })
const file = (name: string, bytes: Uint8Array | string): RawPart => ({
  disposition: `name="file"; filename="${name}"`,
  bytes,
})

type Options = { info?: Record<string, unknown> }
const optionsOf = (answer: Answer): Options[] => {
  expect(answer.status, answer.body.toString()).to.equal(200)
  return (jsonOf(answer) as unknown as WireRecord[]).map(({ options }) => options as Options)
}

onOneBackend('info in the response to an upload', (start) => {
  const watched = watchedEngine()
  let service: Service
  before(async () => {
    service = await start({ engines: [watched.engine] })
  })
  afterEach(() => watched.release())

  it('is in the record with the form field info, before or after the file, and equals GET info', async () => {
    const { bytes } = await photograph()
    for (const value of ['1', 'true', '']) {
      for (const parts of [
        [field('info', value), file('a.jpg', bytes)],
        [file('a.jpg', bytes), field('info', value)],
      ]) {
        const answer = await postForm(service, parts)
        const [{ info } = {}] = optionsOf(answer)
        expect(info).to.include({ width: 400, height: 300, format: 'jpeg', originalName: 'a.jpg' })
        expect(info).to.have.any.keys('thumbHash')
        expect(info).to.not.have.property('location')
        const [{ src }] = jsonOf(answer) as unknown as [WireRecord]
        expect(jsonOf(await exchange(service, src.replace('/upload/', '/info/')))).to.deep.equal(info)
      }
    }
  })

  it('is absent by default', async () => {
    for (const parts of [[], [field('info', '0')], [field('comment', 'info')]])
      expect(optionsOf(await postForm(service, [...parts, file('a.png', await picture())]))).to.deep.equal([
        {},
      ])
  })

  it('is in the record of every file of a form, as far as it is known', async () => {
    const png = await picture()
    const options = optionsOf(
      await postForm(service, [
        file('a.png', await picture({ width: 30, height: 20 })),
        file('b.txt', 'some text'),
        field('info', '1'),
        file('c.png', corrupted(png)),
        file('d.png', await sharp(png).resize(50).png().toBuffer()),
      ]),
    )
    expect(options.map(({ info }) => [info?.originalName, info?.width])).to.deep.equal([
      ['a.png', 30],
      ['b.txt', undefined],
      ['c.png', 400],
      ['d.png', 50],
    ])
    expect(options[2]?.info?.problem).to.have.property('code', 'not_transformable')
    for (const i of [0, 1, 3]) expect(options[i]?.info).to.not.have.property('problem')
  })

  it('does not fail the upload when it cannot be read', async () => {
    const failing = await start({
      engines: [
        {
          ...watched.engine,
          open: () => {
            throw new Error('an engine that is broken')
          },
        },
      ],
    })
    const [{ info } = {}] = optionsOf(
      await postForm(failing, [field('info', '1'), file('a.png', await picture())]),
    )
    expect(info).to.include({ format: 'png', originalName: 'a.png' })
    expect(info?.problem).to.have.property('code', 'unavailable')
    expect(failing.log.lines.map(({ message }) => message)).to.include('file information could not be read')
  })

  describe('responds 400 and stores nothing', () => {
    const cases: Record<string, [fields: RawPart[], expected: RegExp]> = {
      'with an invalid value': [
        [field('info', 'yes')],
        /expected no value, 1 or 0 for info but received "yes"/,
      ],
      'when the field is sent twice': [
        [field('info', '1'), field('info', '0')],
        /expected one field for info but received "0"/,
      ],
      'with more than a field holds': [
        [field('info', '1'.repeat(70_000))],
        /expected at most 64 KiB for info but received "more"/,
      ],
    }
    for (const [what, [fields, expected]] of Object.entries(cases)) {
      it(what, async () => {
        const before = await service.objects()
        const bytes = await picture()
        for (const parts of [
          [...fields, file('a.png', bytes)],
          [file('a.png', bytes), ...fields],
          [file('a.png', bytes), ...fields, file('b.png', bytes)],
        ]) {
          const answer = await postForm(service, parts)
          expect(answer.status).to.equal(400)
          expect(jsonOf(answer)).to.include({ code: 'bad_parameter', param: 'info' })
          expect(jsonOf(answer).detail).to.match(expected)
        }
        expect(await service.objects()).to.deep.equal(before)
      })
    }
  })

  it('accepts a hundred fields in addition to the files, and no more', async () => {
    const fields = (count: number) => Array.from({ length: count }, (_, i) => field(`f${i}`, 'x'))
    const one = file('a.txt', 'x')
    const strict = await start({ env: { UPLOAD_MAX_FILES: '1' } })
    expect(optionsOf(await postForm(strict, [...fields(99), one, field('info', '1')]))).to.have.length(1)
    const answer = await postForm(strict, [one, ...fields(101)])
    expect(answer.status).to.equal(400)
    expect(jsonOf(answer).detail).to.equal('expected at most 100 text fields but received more')
  })
})
