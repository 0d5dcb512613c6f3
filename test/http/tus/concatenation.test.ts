import { expect } from 'chai'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { newClient } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import {
  begin,
  metadata,
  offsetAt,
  patch,
  recordIn,
  TUS,
  tus,
  uploadedByTusJs,
} from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'
import { noise } from '../../support/stored/noise.ts'

onOneOrTwoBackends('resumable uploads of parts that are joined', (start, _, itOnce) => {
  let service: Service
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start()
  })

  const leftOfUploads = async () =>
    (await service.objects()).filter((key) => key.includes('.sluice/tus/pieces'))
  const partial = { 'Upload-Concat': 'partial' }

  /** Sends bytes as a complete part. @returns its address */
  async function part(bytes: Buffer): Promise<string> {
    const address = await begin(service, bytes.length, { headers: partial })
    const sent = await patch(service, address, { offset: 0, body: bytes })
    expect(sent.status, String(sent.body)).to.equal(204)
    expect(sent.headers).not.to.have.property('upload-record')
    return address
  }
  const parts = () => Promise.all([png.subarray(0, 40), png.subarray(40)].map(part))
  const join = (addresses: readonly string[], values: Record<string, string> = {}) =>
    tus(service, '/v1/tus', {
      method: 'POST',
      headers: {
        'Upload-Concat': `final;${addresses.join(' ')}`,
        ...metadata({ filename: 'whole.png', ...values }),
      },
    })

  it('store one original of all bytes in the order of the request, and leave no part', async () => {
    const addresses = await parts()
    const [first = ''] = addresses
    const head = await tus(service, first, { method: 'HEAD' })
    expect(head.headers).to.include({
      'upload-concat': 'partial',
      'upload-offset': '40',
      'upload-length': '40',
    })
    expect(jsonOf(await tus(service, first))).to.include({ state: 'receiving', offset: 40 })
    const joined = await join(addresses, { folder: 'a/b' })
    expect(joined.status, String(joined.body)).to.equal(201)
    const record = recordIn(joined)
    expect(record).to.include({ originalName: 'whole.png', format: 'png', size: png.length })
    expect(record.s3PathOriginal).to.match(/^a\/b\//)
    expect((await exchange(service, record.src)).body.equals(png)).to.equal(true)
    expect(await leftOfUploads()).to.deep.equal([])
    expect((await tus(service, first, { method: 'HEAD' })).status).to.equal(404)
    const address = String(joined.headers.location)
    const final = await tus(service, address, { method: 'HEAD' })
    expect(final.headers['upload-concat']).to.match(/^final;\S+\/v1\/tus\/\S+ \S+\/v1\/tus\/\S+$/)
    expect(await offsetAt(service, address)).to.equal(png.length)
  })

  it('return the same upload for a repeated request, as after a lost response', async () => {
    const addresses = await parts()
    const [one, other] = [await join(addresses), await join(addresses)]
    expect(other.status, String(other.body)).to.equal(201)
    expect(other.headers.location).to.equal(one.headers.location)
    expect(recordIn(other).s3PathOriginal).to.equal(recordIn(one).s3PathOriginal)
  })

  itOnce(
    'are refused when a part is missing, incomplete, whole, or of another client, and keep the parts',
    async () => {
      const [first = '', second = ''] = await parts()
      const half = await begin(service, 100, { headers: partial })
      const whole = await begin(service, 100)
      expect((await patch(service, whole, { offset: 0, body: noise(100) })).status).to.equal(204)
      const other = await newClient(service)
      const cases: Array<[what: string, addresses: string[], status: number, code: string]> = [
        ['none', [], 400, 'bad_parameter'],
        ['twice the same', [first, first], 400, 'bad_parameter'],
        ['no upload', ['/v1/files'], 400, 'bad_parameter'],
        ['an unknown one', [first, '/v1/tus/7JAiMJ5xg1xH6JYSiPjo5R'], 404, 'upload_not_found'],
        ['an incomplete one', [first, half], 409, 'upload_incomplete'],
        ['a whole one', [first, whole], 409, 'upload_incomplete'],
      ]
      for (const [what, addresses, status, code] of cases) {
        const answer = await join(addresses)
        expect([answer.status, jsonOf(answer).code], what).to.deep.equal([status, code])
      }
      const foreign = await tus(other, '/v1/tus', {
        method: 'POST',
        headers: { 'Upload-Concat': `final;${first} ${second}` },
      })
      expect(foreign.status).to.equal(404)
      expect(
        (await tus(service, '/v1/tus', { method: 'POST', headers: { 'Upload-Concat': 'all' } })).status,
      ).to.equal(400)
      const joined = await join([first, second])
      expect(joined.status).to.equal(201)
      const late = await patch(service, String(joined.headers.location), {
        offset: png.length,
        body: Buffer.from('x'),
      })
      expect([late.status, jsonOf(late).code]).to.deep.equal([403, 'joined_upload'])
      for (const address of [half, whole]) await tus(service, address, { method: 'DELETE' })
    },
  )

  itOnce('by a signed link need no more than the link, and may have as many bytes as its files', async () => {
    const { body } = await ask(service, '/v1/sign', {
      method: 'POST',
      json: { expiresIn: 600, maxBytes: 1000, uses: 1 },
    })
    const link = (body as { url: string }).url.slice(service.url.length)
    const create = (headers: Record<string, string | number>) =>
      exchange(service, link, { method: 'POST', headers: { ...TUS, ...headers } })
    const [one, other] = await Promise.all(
      [500, 500].map((size) => create({ ...partial, 'Upload-Length': size })),
    )
    const addresses = [one, other].map((answer) => String(answer?.headers.location))
    const busy = await create({ ...partial, 'Upload-Length': 10 })
    expect([busy.status, jsonOf(busy).code]).to.deep.equal([409, 'link_busy'])
    const bytes = noise(1000)
    for (const [i, address] of addresses.entries())
      await exchange(service, address, {
        method: 'PATCH',
        headers: { ...TUS, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' },
        body: bytes.subarray(i * 500, i * 500 + 500),
      })
    const joined = await create({
      'Upload-Concat': `final;${addresses.join(' ')}`,
      ...metadata({ filename: 'a.bin' }),
    })
    expect(joined.status, String(joined.body)).to.equal(201)
    const record = recordIn(joined)
    expect((await exchange(service, record.src)).body.equals(bytes)).to.equal(true)
    const again = await create({ ...partial, 'Upload-Length': 10 })
    expect([again.status, jsonOf(again).code]).to.deep.equal([409, 'link_used'])
    expect(await leftOfUploads()).to.deep.equal([])
  })

  itOnce('are what tus-js-client sends for parallelUploads', async () => {
    const bytes = noise(300_000)
    const pathname = await uploadedByTusJs(bytes, {
      endpoint: `${service.url}/v1/tus`,
      headers: { Authorization: service.tokens.secretClientToken },
      metadata: { filename: 'parallel.bin' },
      parallelUploads: 3,
    })
    const [record] = JSON.parse((await tus(service, pathname)).body.toString())
    expect(record).to.include({ originalName: 'parallel.bin', size: bytes.length })
    expect((await exchange(service, record.src)).body.equals(bytes)).to.equal(true)
  })
})
