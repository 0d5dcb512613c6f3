import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { onTwoBackends } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { partsOf } from '../../support/requests/byteranges.ts'
import { rawPath, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { emptied } from '../../support/storage.ts'

const DAY = 86_400_000

/** As C's asctime writes a date, one of the two old forms of HTTP. */
function asctime(date: Date): string {
  const [day, number, month, year, time] = date.toUTCString().split(/,? /)
  return `${day} ${month} ${number?.replace(/^0/, ' ')} ${time} ${year}`
}

/** A file by its address, and what a plain request of it answers. */
interface Target {
  address: string
  etag: string
  modified: Date
  bytes: Buffer
  mediaType: string
}

onTwoBackends('Range and conditional requests', (start, backend) => {
  let service: Service
  let text: WireRecord
  let png: WireRecord
  const bytes = randomBytes(1000)
  before(async () => {
    service = await start()
    text = await uploadOne(service, { name: 'a.bin', bytes })
    png = await uploadOne(service, { name: 'a.png', bytes: await picture() })
  })

  let width = 10
  /** Four kinds of target; the derivatives are new each time, and a cold one is made by the request under test. */
  const targets: Record<string, () => Promise<Target>> = {
    'an original': async () => described(text.src),
    'an original on the raw route': async () => described(rawPath(service, text.s3Path)),
    'a stored derivative': async () => {
      width += 1
      return described(`${png.src}?w=${width}`)
    },
    'a derivative that is not rendered yet': async () => {
      // Its twin, from an equal file, tells what the bytes will be.
      width += 1
      const twin = await uploadOne(service, { name: 'b.png', bytes: await picture() })
      const { bytes: expected } = await described(`${twin.src}?w=${width}`)
      const original = await described(png.src)
      return {
        address: `${png.src}?w=${width}`,
        etag: `"${png.s3PathOriginal}_w=${width}"`,
        modified: original.modified,
        bytes: expected,
        mediaType: 'image/png',
      }
    },
  }

  async function described(address: string): Promise<Target> {
    const { status, headers, body } = await exchange(service, address)
    expect(status).to.equal(200)
    return {
      address,
      etag: String(headers.etag),
      modified: new Date(String(headers['last-modified'])),
      bytes: body,
      mediaType: String(headers['content-type']),
    }
  }

  for (const [what, target] of Object.entries(targets)) {
    // Its bytes come from memory, not from the bucket.
    if (what === 'a derivative that is not rendered yet' && backend !== EMBEDDED) continue
    // Stored derivatives and the raw route read the bucket as an original does.
    if (sized(what !== 'an original' && backend !== EMBEDDED, false)) continue
    describe(`for ${what}`, () => {
      // All headers are parsed in the same way: an original on disk gets all of them, the other targets some of each kind.
      const isFull = sized(backend === EMBEDDED && what === 'an original', true)
      // Each test of it uploads a file and renders two derivatives.
      const few = what === 'a derivative that is not rendered yet' ? 1 : 3
      const cases = <T>(all: readonly T[], some = few): readonly T[] =>
        all.filter((_, i) => isFull || i % Math.ceil(all.length / some) === 0)
      const ranges: Array<[range: (size: number) => string, part: (size: number) => [number, number]]> = [
        [() => 'bytes=0-0', () => [0, 0]],
        [() => 'bytes=0-99', () => [0, 99]],
        [() => 'bytes=50-', (size) => [50, size - 1]],
        [() => 'bytes=-10', (size) => [size - 10, size - 1]],
        [() => 'bytes=-999999', (size) => [0, size - 1]],
        [(size) => `bytes=${size - 5}-${size + 5}`, (size) => [size - 5, size - 1]],
        [(size) => `bytes=0-${size - 1}`, (size) => [0, size - 1]],
        [(size) => `bytes=${size - 1}-`, (size) => [size - 1, size - 1]],
        [() => 'BYTES=1-2', () => [1, 2]],
      ]
      for (const [range, part] of cases(ranges)) {
        it(`respond 206 to ${range(1000)}`, async () => {
          const { address, bytes, etag } = await target()
          const size = bytes.length
          const [first, last] = part(size)
          const answer = await exchange(service, address, { headers: { Range: range(size) } })
          expect(answer.status).to.equal(206)
          expect(answer.headers['content-range']).to.equal(`bytes ${first}-${last}/${size}`)
          expect(answer.headers['content-length']).to.equal(String(last - first + 1))
          expect(answer.headers.etag).to.equal(etag)
          expect(answer.headers['cache-control']).to.equal('public, max-age=604800')
          expect(answer.body.equals(bytes.subarray(first, last + 1))).to.equal(true)
        })
      }

      for (const range of cases([
        (size: number) => `bytes=${size}-`,
        (size: number) => `bytes=${size}-${size + 10}`,
        () => 'bytes=-0',
        () => 'bytes=99999999999999999999-',
      ])) {
        it(`respond 416 to ${range(1000)}`, async () => {
          const { address, bytes } = await target()
          const answer = await exchange(service, address, { headers: { Range: range(bytes.length) } })
          expect(answer.status).to.equal(416)
          expect(answer.headers['content-range']).to.equal(`bytes */${bytes.length}`)
          expect(answer.headers['cache-control']).to.equal('no-store')
          expect(answer.headers).not.to.have.property('etag')
          expect(jsonOf(answer).code).to.equal('range_not_satisfiable')
        })
      }

      const invalid = ['bytes=5-2', 'bytes=a-b', 'bytes=', 'bytes=-', 'bytes=--1', 'items=0-1', '0-1']
      for (const range of cases(invalid)) {
        it(`ignore the invalid range ${range}`, async () => {
          const { address, bytes } = await target()
          const answer = await exchange(service, address, { headers: { Range: range } })
          expect(answer.status).to.equal(200)
          expect(answer.body.equals(bytes)).to.equal(true)
        })
      }

      const several: Array<[range: string, parts: (size: number) => Array<[number, number]>]> = [
        [
          'bytes=0-1,5-6',
          () => [
            [0, 1],
            [5, 6],
          ],
        ],
        // In the order asked.
        [
          'bytes=-2,0-0',
          (size) => [
            [size - 2, size - 1],
            [0, 0],
          ],
        ],
        [
          'bytes=0-0, 1-1,, 3-3,4-5, 7-7,9-20,30-30, 40-',
          (size) => [
            [0, 0],
            [1, 1],
            [3, 3],
            [4, 5],
            [7, 7],
            [9, 20],
            [30, 30],
            [40, size - 1],
          ],
        ],
        // One that there is not is left out.
        [
          'bytes=5-6,99999999-,1-2',
          () => [
            [5, 6],
            [1, 2],
          ],
        ],
      ]
      for (const [range, parts] of cases(several)) {
        it(`respond 206 with multipart/byteranges to ${range}`, async () => {
          const { address, bytes, etag, modified, mediaType } = await target()
          const size = bytes.length
          const answer = await exchange(service, address, { headers: { Range: range } })
          expect(answer.status).to.equal(206)
          expect(partsOf(answer)).to.deep.equal(
            parts(size).map(([first, last]) => ({
              headers: { 'content-type': mediaType, 'content-range': `bytes ${first}-${last}/${size}` },
              bytes: bytes.subarray(first, last + 1),
            })),
          )
          expect(answer.headers).not.to.have.property('content-range')
          expect(answer.headers['content-length']).to.equal(String(answer.body.length))
          expect(answer.headers.etag).to.equal(etag)
          expect(answer.headers['last-modified']).to.equal(modified.toUTCString())
          expect(answer.headers['cache-control']).to.equal('public, max-age=604800')
          expect(answer.headers['accept-ranges']).to.equal('bytes')
        })
      }

      it('respond 206 with a single part when only one of several ranges is satisfiable', async () => {
        const { address, bytes, mediaType } = await target()
        const answer = await exchange(service, address, { headers: { Range: 'bytes=99999999-,2-4' } })
        expect(answer.status).to.equal(206)
        expect(answer.headers['content-type']).to.equal(mediaType)
        expect(answer.headers['content-range']).to.equal(`bytes 2-4/${bytes.length}`)
        expect(answer.body.equals(bytes.subarray(2, 5))).to.equal(true)
      })

      for (const [what, range] of Object.entries({
        'nine ranges': 'bytes=0-0,2-2,4-4,6-6,8-8,10-10,12-12,14-14,16-16',
        'overlapping ranges': 'bytes=0-5,10-11,4-8',
        'the same range twice': 'bytes=0-5,0-5',
      })) {
        it(`respond to ${what} with the full body`, async () => {
          const { address, bytes } = await target()
          const answer = await exchange(service, address, { headers: { Range: range } })
          expect(answer.status).to.equal(200)
          expect(answer.headers['content-length']).to.equal(String(bytes.length))
          expect(answer.body.equals(bytes)).to.equal(true)
        })
      }

      it('ignore Range on HEAD', async () => {
        const { address, bytes } = await target()
        for (const range of ['bytes=0-1', 'bytes=0-1,5-6', 'bytes=99999999-']) {
          const answer = await exchange(service, address, { method: 'HEAD', headers: { Range: range } })
          expect({ status: answer.status, length: answer.headers['content-length'] }, range).to.deep.equal({
            status: 200,
            length: String(bytes.length),
          })
        }
      })

      const ifRange: Record<string, [value: (target: Target) => string, status: number]> = {
        'the tag': [({ etag }) => etag, 206],
        'another tag': [() => '"another"', 200],
        'the tag, but weak': [({ etag }) => `W/${etag}`, 200],
        'the date': [({ modified }) => modified.toUTCString(), 206],
        'an earlier date': [({ modified }) => new Date(+modified - DAY).toUTCString(), 200],
        'a later date': [({ modified }) => new Date(+modified + DAY).toUTCString(), 200],
        'the date, as it was written long ago': [({ modified }) => asctime(modified), 206],
        'the date, as no HTTP date is written': [({ modified }) => modified.toISOString(), 200],
        nonsense: [() => 'nonsense', 200],
      }
      for (const [how, [value, status]] of cases(Object.entries(ifRange))) {
        it(`respond ${status} to a range with If-Range: ${how}`, async () => {
          const it = await target()
          const answer = await exchange(service, it.address, {
            headers: { Range: 'bytes=1-3', 'If-Range': value(it) },
          })
          expect(answer.status).to.equal(status)
          const whole = status === 200
          expect(answer.body.equals(whole ? it.bytes : it.bytes.subarray(1, 4))).to.equal(true)
        })
      }

      it('apply If-Range to several ranges as to one', async () => {
        const { address, etag, bytes } = await target()
        const Range = 'bytes=1-3,5-7'
        const same = await exchange(service, address, { headers: { Range, 'If-Range': etag } })
        expect(partsOf(same).map((part) => part.bytes)).to.deep.equal([
          bytes.subarray(1, 4),
          bytes.subarray(5, 8),
        ])
        const other = await exchange(service, address, { headers: { Range, 'If-Range': '"another"' } })
        expect(other.status).to.equal(200)
        expect(other.body.equals(bytes)).to.equal(true)
      })

      it('respond with the full body to an unsatisfiable range when If-Range has another ETag', async () => {
        const { address, bytes } = await target()
        const headers = { Range: 'bytes=99999999-', 'If-Range': '"another"' }
        const { status, body } = await exchange(service, address, { headers })
        expect({ status, length: body.length }).to.deep.equal({ status: 200, length: bytes.length })
      })

      const earlier = (t: Target) => new Date(+t.modified - DAY).toUTCString()
      const later = (t: Target) => new Date(+t.modified + DAY).toUTCString()
      const at = (t: Target) => t.modified.toUTCString()
      const conditions: Array<[headers: (t: Target) => Record<string, string>, status: number, why: string]> =
        [
          [({ etag }) => ({ 'If-None-Match': etag }), 304, 'If-None-Match: the tag'],
          [({ etag }) => ({ 'If-None-Match': `W/${etag}` }), 304, 'If-None-Match: the tag, but weak'],
          [
            ({ etag }) => ({ 'If-None-Match': `"a", ${etag} ,"b"` }),
            304,
            'If-None-Match: the ETag in a list',
          ],
          [() => ({ 'If-None-Match': '*' }), 304, 'If-None-Match: *'],
          [() => ({ 'If-None-Match': '"another"' }), 200, 'If-None-Match: another tag'],
          [
            ({ etag }) => ({ 'If-None-Match': etag.replaceAll('"', '') }),
            200,
            'If-None-Match: without quotes',
          ],
          [(t) => ({ 'If-Modified-Since': at(t) }), 304, 'If-Modified-Since: the date'],
          [(t) => ({ 'If-Modified-Since': later(t) }), 304, 'If-Modified-Since: later'],
          [(t) => ({ 'If-Modified-Since': earlier(t) }), 200, 'If-Modified-Since: earlier'],
          [() => ({ 'If-Modified-Since': 'nonsense' }), 200, 'If-Modified-Since: nonsense'],
          [
            (t) => ({ 'If-Modified-Since': asctime(t.modified) }),
            304,
            'If-Modified-Since: the date, as it was written long ago',
          ],
          [
            (t) => ({ 'If-Modified-Since': new Date(+t.modified + DAY).toISOString() }),
            200,
            'If-Modified-Since: later, as no HTTP date is written',
          ],
          [
            (t) => ({ 'If-None-Match': '"another"', 'If-Modified-Since': later(t) }),
            200,
            'If-None-Match, which has precedence, means modified; If-Modified-Since unmodified',
          ],
          [
            (t) => ({ 'If-None-Match': t.etag, 'If-Modified-Since': earlier(t) }),
            304,
            'If-None-Match, which has precedence, means not modified; If-Modified-Since modified',
          ],
          [({ etag }) => ({ 'If-Match': etag }), 200, 'If-Match: the tag'],
          [() => ({ 'If-Match': '*' }), 200, 'If-Match: *'],
          [({ etag }) => ({ 'If-Match': `"a",${etag}` }), 200, 'If-Match: the tag among others'],
          [({ etag }) => ({ 'If-Match': `w/${etag}` }), 412, 'If-Match: the tag inside another text'],
          [() => ({ 'If-Match': '"another"' }), 412, 'If-Match: another tag'],
          [({ etag }) => ({ 'If-Match': `W/${etag}` }), 412, 'If-Match: the tag, but weak'],
          [(t) => ({ 'If-Unmodified-Since': at(t) }), 200, 'If-Unmodified-Since: the date'],
          [(t) => ({ 'If-Unmodified-Since': earlier(t) }), 412, 'If-Unmodified-Since: earlier'],
          [() => ({ 'If-Unmodified-Since': 'nonsense' }), 200, 'If-Unmodified-Since: nonsense'],
          [
            () => ({ 'If-Unmodified-Since': '1994-11-06' }),
            200,
            'If-Unmodified-Since: earlier, as no HTTP date is written',
          ],
          [
            () => ({ 'If-Unmodified-Since': 'Sunday, 06-Nov-94 08:49:37 GMT' }),
            412,
            'If-Unmodified-Since: earlier, as it was written long ago',
          ],
          [
            (t) => ({ 'If-Match': t.etag, 'If-Unmodified-Since': earlier(t) }),
            200,
            'If-Match, which has precedence, matches; If-Unmodified-Since does not',
          ],
          [
            (t) => ({ 'If-Match': '"another"', 'If-None-Match': t.etag }),
            412,
            'If-Match fails before If-None-Match is evaluated',
          ],
          [
            (t) => ({ 'If-Match': t.etag, 'If-None-Match': t.etag }),
            304,
            'If-Match matches, If-None-Match means not modified',
          ],
          [(t) => ({ 'If-None-Match': t.etag, Range: 'bytes=0-1' }), 304, 'not modified, and a range'],
          [
            (t) => ({ 'If-None-Match': t.etag, Range: 'bytes=999999-' }),
            304,
            'not modified, and a bad range',
          ],
          [() => ({ 'If-Match': '"another"', Range: 'bytes=999999-' }), 412, 'failed, and a bad range'],
          [(t) => ({ 'If-Match': t.etag, Range: 'bytes=0-1' }), 206, 'If-Match holds, and a range'],
        ]
      for (const [headers, status, why] of cases(conditions, 2 * few)) {
        it(`respond ${status}: ${why}`, async () => {
          const it = await target()
          for (const method of status === 206 ? ['GET'] : ['GET', 'HEAD']) {
            const answer = await exchange(service, it.address, { method, headers: headers(it) })
            expect(answer.status, method).to.equal(status)
            if (status === 304) expectNotModified(answer, it)
            if (status === 412) expectFailed(answer, method)
          }
        })
      }
    })
  }

  function expectNotModified({ headers, body }: Answer, { etag, modified }: Target): void {
    expect(body.length).to.equal(0)
    expect(headers.etag).to.equal(etag)
    expect(headers['cache-control']).to.equal('public, max-age=604800')
    expect(headers['last-modified']).to.equal(modified.toUTCString())
    for (const name of ['content-type', 'content-length', 'content-range'])
      expect(headers).not.to.have.property(name)
  }

  function expectFailed(answer: Answer, method: string): void {
    expect(answer.headers['cache-control']).to.equal('no-store')
    expect(answer.headers).not.to.have.property('etag')
    if (method === 'GET') expect(jsonOf(answer).code).to.equal('precondition_failed')
  }

  it('respond 416 to any range of an empty file', async () => {
    const empty = await uploadOne(service, { name: 'empty', bytes: Buffer.alloc(1) })
    await emptied(service, empty)
    for (const range of ['bytes=0-0', 'bytes=0-', 'bytes=-1']) {
      const { status, headers } = await exchange(service, empty.src, { headers: { Range: range } })
      expect({ status, range: headers['content-range'] }, range).to.deep.equal({
        status: 416,
        range: 'bytes */0',
      })
    }
  })
})
