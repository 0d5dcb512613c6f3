import { expect } from 'chai'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { colourAt, picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { filePath, listAll } from '../../support/stored/files.ts'

onOneOrTwoBackends('the focal point of a file', (start, _, itOnce) => {
  let service: Service
  let png: Buffer
  before(async () => {
    service = await start()
    png = await picture()
  })

  const change = (record: WireRecord, focalPoint: unknown, options = {}) =>
    ask(service, filePath(record.s3PathOriginal), { method: 'PATCH', json: { focalPoint }, ...options })
  const shown = async (record: WireRecord) =>
    (await ask(service, filePath(record.s3PathOriginal))).body as { focalPoint?: object; tags: string[] }
  /** The colour in the upper left corner, and the ETag. The quarters of the picture are red, green, blue and white. */
  async function crop(record: WireRecord, query: string) {
    const { status, headers, body } = await exchange(service, `${new URL(record.src).pathname}?${query}`)
    expect(status, query).to.equal(200)
    const { r, g } = await colourAt(body, 0, 0)
    return { colour: r > 128 ? 'red' : g > 128 ? 'green' : 'blue', etag: String(headers.etag), status }
  }

  it('is stored, listed, changed and removed', async () => {
    const record = await uploadOne(service, { name: 'a.png', bytes: png })
    expect(await shown(record)).not.to.have.property('focalPoint')
    const first = await change(record, { x: 0, y: 0.123456 })
    expect(first).to.include({ status: 200 })
    expect(first.body).to.deep.include({ focalPoint: { x: 0, y: 0.1235 } })
    const listed = (await listAll(service)).map(({ focalPoint }) => focalPoint)
    expect(listed).to.deep.include({ x: 0, y: 0.1235 })
    const headers = { 'If-Match': String(first.headers.get('etag')) }
    expect(await change(record, { x: 0, y: 0.5 }, { headers })).to.include({ status: 200 })
    expect(await change(record, null, { headers })).to.include({ status: 412 })
    await ask(service, filePath(record.s3PathOriginal), { method: 'PATCH', json: { tags: ['red'] } })
    expect(await shown(record)).to.deep.include({ tags: ['red'], focalPoint: { x: 0, y: 0.5 } })
    expect((await change(record, null)).body).not.to.have.property('focalPoint')
    expect(await shown(record)).to.not.have.property('focalPoint')
  })

  itOnce('moves the crops of the same URL from the next request on', async () => {
    const record = await uploadOne(service, { name: 'a.png', bytes: png })
    const query = 'w=40&h=60'
    const centred = await crop(record, query)
    expect(centred.colour).to.equal('red')
    await change(record, { x: 1, y: 0 })
    const moved = await crop(record, query)
    expect(moved.colour).to.equal('green')
    expect(moved.etag).not.to.equal(centred.etag)
    expect(await crop(record, query), 'a stored derivative').to.deep.equal(moved)
    expect(await crop(record, `${query}&fx=1&fy=0`), 'one derivative').to.deep.equal(moved)
    const path = `${new URL(record.src).pathname}?${query}`
    const conditional = { headers: { 'If-None-Match': centred.etag } }
    expect((await exchange(service, path, conditional)).status, 'a cached old crop').to.equal(200)
    await change(record, null)
    expect(await crop(record, query)).to.deep.equal(centred)
  })

  itOnce(
    'applies to crops by ratio and zoom, and to no request with a focus or a part of its own',
    async () => {
      const record = await uploadOne(service, { name: 'a.png', bytes: png })
      await change(record, { x: 1, y: 1 })
      for (const query of ['ar=1:3', 'zoom=4', 'w=20&ar=1:3'])
        expect((await crop(record, query)).colour, query).to.equal(query === 'zoom=4' ? 'blue' : 'green')
      const plain = await uploadOne(service, { name: 'a.png', bytes: png })
      const variant = ({ etag }: { etag: string }) => etag.replace(/.*_/, '')
      const own = [
        'w=40&h=60&func=center',
        'w=40&h=60&fx=0.25',
        'w=40&h=60&func=auto',
        'w=40&h=60&crop=0,0,9,9',
      ]
      for (const query of [...own, 'w=40', 'w=40&h=60&fit=fill', 'w=40&h=60&fit=contain', 'w=40&h=60&trim'])
        expect(variant(await crop(record, query)), query).to.equal(variant(await crop(plain, query)))
    },
  )

  itOnce('is set by an upload, and applies to the derivatives that the upload requests', async () => {
    const form = new FormData()
    form.append('focalPoint', '{"x": 1, "y": 0.5}')
    form.append('transforms', '["w=40&h=60"]')
    form.append('file', new Blob([png]), 'a.png')
    const headers = { Authorization: service.tokens.secretClientToken }
    const response = await fetch(`${service.url}/v1/upload`, { method: 'POST', headers, body: form })
    const [record] = (await response.json()) as [WireRecord & { options: { transforms: [{ key: string }] } }]
    expect(await shown(record)).to.deep.include({ focalPoint: { x: 1, y: 0.5 } })
    const { etag, colour } = await crop(record, 'w=40&h=60')
    expect(colour).to.equal('green')
    expect(etag.replace(/^.*_/, '_').replaceAll('"', '')).to.equal(
      record.options.transforms[0].key.replace(/^.*_/, '_'),
    )
  })

  for (const [received, param] of [
    ['center', 'focalPoint'],
    [[0, 1], 'focalPoint'],
    [{ x: 0.5 }, 'focalPoint.y'],
    [{ x: 1.1, y: 0 }, 'focalPoint.x'],
    [{ x: 0, y: -0.1 }, 'focalPoint.y'],
    [{ x: '0', y: 0 }, 'focalPoint.x'],
    [{ x: 0, y: 0, z: 0 }, 'focalPoint'],
  ] as const)
    itOnce(`is refused as ${JSON.stringify(received)}`, async () => {
      const record = await uploadOne(service, { name: 'a.png', bytes: png })
      const { status, body } = await change(record, received)
      expect({ status, param: (body as { param: string }).param }).to.deep.equal({ status: 400, param })
      expect(await shown(record)).not.to.have.property('focalPoint')
    })
})
