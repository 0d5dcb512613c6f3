import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { newClient, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf, openSocket } from '../../support/requests/exchange.ts'
import { begin, OFFSET_STREAM, offsetAt, patch, recordIn, TUS, tus } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'
import { longOnce } from '../../support/sized.ts'
import { noise } from '../../support/stored/noise.ts'

onOneOrTwoBackends('resumable uploads', (start, _, itOnce) => {
  const itLongOnce = longOnce(itOnce)
  let service: Service
  let png: Buffer
  before(async () => {
    png = await picture()
    // Those that hang are not to be ended for that.
    service = await start({ env: { UPLOAD_MIN_BYTES_PER_SECOND: '0' } })
  })

  /** Sends the first 40 bytes of all once the server reads them, and then nothing. */
  async function begunPatch(address: string): Promise<Socket> {
    const headers = { ...TUS, ...OFFSET_STREAM, Authorization: service.tokens.secretClientToken }
    const lengths = { 'Upload-Offset': 0, 'Content-Length': png.length }
    const lines = Object.entries({ ...headers, ...lengths, Host: 'a', Expect: '100-continue' })
    const head = `PATCH ${new URL(address).pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
    const socket = await openSocket(service)
    socket.write(head)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).to.match(/^HTTP\/1\.1 100 /)
    await new Promise((sent) => socket.write(png.subarray(0, 40), sent))
    return socket
  }

  const leftOfUploads = async () =>
    (await service.objects()).filter((key) => key.includes('.sluice/tus/pieces'))

  it('store an original from a file that is sent in three requests', async () => {
    const address = await begin(service, png.length, {
      values: { filename: 'a photo ä.png', filetype: 'text/html' },
    })
    expect(address).to.match(/\/v1\/tus\/[1-9A-HJ-NP-Za-km-z]{22}$/)
    for (const [from, to] of [
      [0, 10],
      [10, 50],
    ] as const) {
      const sent = await patch(service, address, { offset: from, body: png.subarray(from, to) })
      expect(sent.status).to.equal(204)
      expect(sent.headers['upload-offset']).to.equal(String(to))
      expect(sent.headers['tus-resumable']).to.equal('1.0.0')
      expect(new Date(String(sent.headers['upload-expires'])).getTime()).to.be.greaterThan(Date.now())
      expect(await offsetAt(service, address)).to.equal(to)
    }
    const last = await patch(service, address, { offset: 50, body: png.subarray(50) })
    expect(last.status).to.equal(204)
    const record = recordIn(last)
    const ordinary = await uploadOne(service, { name: 'a photo ä.png', bytes: png })
    expect(Object.keys(record)).to.deep.equal(Object.keys(ordinary))
    expect(record).to.include({
      originalName: 'a photo ä.png',
      size: png.length,
      mimeType: 'image',
      format: 'png',
    })
    const delivered = await exchange(service, record.src)
    expect(delivered.status).to.equal(200)
    expect(delivered.headers['content-type']).to.equal('image/png')
    expect(delivered.body.equals(png)).to.equal(true)
    expect((await exchange(service, `${record.src}?w=10`)).status).to.equal(200)
    expect(jsonOf(await tus(service, address))).to.deep.equal([record])
    expect(recordIn(await tus(service, address, { method: 'HEAD' }))).to.deep.equal(record)
    expect(await leftOfUploads()).to.deep.equal([])
  })

  itOnce('accept the folder in the metadata, as folder or as path', async () => {
    for (const name of ['folder', 'path']) {
      const address = await begin(service, png.length, { values: { [name]: 'a/b c' } })
      const record = recordIn(await patch(service, address, { offset: 0, body: png }))
      expect(record.s3PathOriginal).to.match(/^a\/b c\/image\/png\//)
      expect((await exchange(service, record.src)).status).to.equal(200)
    }
  })

  itOnce('accept bytes, or the whole file, in the creation request', async () => {
    const begun = await tus(service, '/v1/tus', {
      method: 'POST',
      headers: { ...OFFSET_STREAM, 'Upload-Length': png.length, 'Content-Length': 20 },
      body: png.subarray(0, 20),
    })
    expect(begun.status).to.equal(201)
    expect(begun.headers['upload-offset']).to.equal('20')
    const rest = await patch(service, String(begun.headers.location), { offset: 20, body: png.subarray(20) })
    expect((await exchange(service, recordIn(rest).src)).body.equals(png)).to.equal(true)
    const whole = await tus(service, '/v1/tus', {
      method: 'POST',
      headers: { ...OFFSET_STREAM, 'Upload-Length': png.length, 'Content-Length': png.length },
      body: png,
    })
    expect(whole.status).to.equal(201)
    expect((await exchange(service, recordIn(whole).src)).body.equals(png)).to.equal(true)
  })

  itOnce('accept the length in a later request', async () => {
    const begun = await tus(service, '/v1/tus', { method: 'POST', headers: { 'Upload-Defer-Length': '1' } })
    const address = String(begun.headers.location)
    expect((await patch(service, address, { offset: 0, body: png.subarray(0, 9) })).status).to.equal(204)
    const head = await tus(service, address, { method: 'HEAD' })
    expect(head.headers).to.include({ 'upload-offset': '9', 'upload-defer-length': '1' })
    expect(jsonOf(await tus(service, address))).to.deep.equal({ state: 'receiving', offset: 9, size: null })
    const headers = { 'Upload-Length': png.length }
    const last = await patch(service, address, { offset: 9, body: png.subarray(9), headers })
    expect((await exchange(service, recordIn(last).src)).body.equals(png)).to.equal(true)
  })

  itOnce('accept PATCH as POST with X-HTTP-Method-Override, and PATCH without a length', async () => {
    const address = await begin(service, png.length)
    const answer = await tus(service, address, {
      method: 'POST',
      headers: { ...OFFSET_STREAM, 'X-HTTP-Method-Override': 'PATCH', 'Upload-Offset': 0 },
      body: Readable.from([png.subarray(0, 30), png.subarray(30)]),
    })
    expect(answer.status).to.equal(204)
    expect((await exchange(service, recordIn(answer).src)).body.equals(png)).to.equal(true)
  })

  it('keep the bytes of an aborted request', async () => {
    const address = await begin(service, png.length)
    let takenWithinMs = 25
    await eventually(async () => {
      const socket = await begunPatch(address)
      // Nothing tells when the server has taken the bytes.
      takenWithinMs *= 2
      await pause(takenWithinMs)
      socket.destroy()
      expect(await offsetAt(service, address)).to.equal(40)
    })
    const last = await patch(service, address, { offset: 40, body: png.subarray(40) })
    expect((await exchange(service, recordIn(last).src)).body.equals(png)).to.equal(true)
  })

  it('continue with a new request while another one hangs', async () => {
    const address = await begin(service, png.length)
    const socket = await begunPatch(address)
    await eventually(async () => expect(await offsetAt(service, address)).to.equal(40))
    const last = await patch(service, address, { offset: 40, body: png.subarray(40) })
    expect(last.status).to.equal(204)
    expect((await exchange(service, recordIn(last).src)).body.equals(png)).to.equal(true)
    socket.destroy()
  })

  itLongOnce('store few objects when the client sends very small pieces', async () => {
    const address = await begin(service, png.length)
    for (let offset = 0; offset < 20; offset += 1)
      await patch(service, address, { offset, body: png.subarray(offset, offset + 1) })
    expect(await leftOfUploads()).to.have.lengthOf(1)
    const last = await patch(service, address, { offset: 20, body: png.subarray(20) })
    expect((await exchange(service, recordIn(last).src)).body.equals(png)).to.equal(true)
  })

  it('verify checksums, and discard all bytes of a request whose checksum is wrong', async () => {
    const digest = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('base64')
    const bytes = noise(9_000_000)
    const address = await begin(service, bytes.length)
    const first = bytes.subarray(0, 1000)
    const wrong = await patch(service, address, {
      offset: 0,
      body: first,
      headers: { 'Upload-Checksum': `sha1 ${digest('sha1', Buffer.from('other'))}` },
    })
    expect(wrong.status).to.equal(460)
    expect(jsonOf(wrong)).to.include({ code: 'checksum_mismatch' })
    expect(await offsetAt(service, address)).to.equal(0)
    const right = await patch(service, address, {
      offset: 0,
      body: first,
      headers: { 'Upload-Checksum': `sha1 ${digest('sha1', first)}` },
    })
    expect(right.status).to.equal(204)
    const rest = bytes.subarray(1000)
    const far = await patch(service, address, {
      offset: 1000,
      body: rest,
      headers: { 'Upload-Checksum': `md5 ${digest('md5', first)}` },
    })
    expect(far.status).to.equal(460)
    expect(await offsetAt(service, address)).to.equal(1000)
    const last = await patch(service, address, {
      offset: 1000,
      body: rest,
      headers: { 'Upload-Checksum': `sha256 ${digest('sha256', rest)}` },
    })
    expect((await exchange(service, recordIn(last).src)).body.equals(bytes)).to.equal(true)
  })

  it('can be terminated; a finished original remains', async () => {
    const address = await begin(service, png.length)
    await patch(service, address, { offset: 0, body: png.subarray(0, 20) })
    expect((await tus(service, address, { method: 'DELETE' })).status).to.equal(204)
    expect((await tus(service, address, { method: 'HEAD' })).status).to.equal(404)
    expect(await leftOfUploads()).to.deep.equal([])
    const other = await begin(service, png.length)
    const record = recordIn(await patch(service, other, { offset: 0, body: png }))
    expect((await tus(service, other, { method: 'DELETE' })).status).to.equal(204)
    expect((await tus(service, other)).status).to.equal(404)
    expect((await exchange(service, record.src)).status).to.equal(200)
  })

  itOnce('cannot be seen or used by another client', async () => {
    const address = await begin(service, png.length)
    const other = await newClient(service)
    const body = png.subarray(0, 5)
    expect((await tus(other, address, { method: 'HEAD' })).status).to.equal(404)
    expect((await tus(other, address)).status).to.equal(404)
    expect((await tus(other, address, { method: 'DELETE' })).status).to.equal(404)
    const sent = await patch(other, address, { offset: 0, body })
    expect(sent.status).to.equal(404)
    expect(jsonOf(sent)).to.include({ code: 'upload_not_found' })
    expect(await offsetAt(service, address)).to.equal(0)
  })

  it('create one original when several requests finish an upload at the same time', async () => {
    const address = await begin(service, png.length)
    await patch(service, address, { offset: 0, body: png.subarray(0, 60) })
    const stored: string[] = []
    const answers = await Promise.all([
      patch(service, address, { offset: 60, body: png.subarray(60) }),
      ...[1, 2, 3].map(() => patch(service, address, { offset: 60, body: png.subarray(60) })),
    ])
    for (const { status } of answers) expect(status).to.be.oneOf([204, 409, 423])
    for (const answer of answers) if (answer.status === 204) stored.push(recordIn(answer).s3PathOriginal)
    expect(stored).not.to.deep.equal([])
    expect(new Set(stored)).to.have.lengthOf(1)
    const again = await patch(service, address, { offset: png.length, body: Buffer.alloc(0) })
    expect(recordIn(again).s3PathOriginal).to.equal(stored[0])
  })

  itOnce('allow pages of other origins, and expose the headers that these need', async () => {
    const preflight = await exchange(service, '/v1/tus', {
      method: 'OPTIONS',
      headers: { Origin: 'https://page.example', 'Access-Control-Request-Method': 'POST' },
    })
    expect(preflight.status).to.equal(204)
    expect(preflight.headers).to.include({
      'access-control-allow-origin': '*',
      'tus-version': '1.0.0',
      'tus-max-size': String(5 * 1024 ** 3),
    })
    expect(preflight.headers['tus-extension']).to.equal(
      'creation,creation-with-upload,creation-defer-length,termination,expiration,checksum,concatenation',
    )
    expect(preflight.headers['access-control-allow-methods']).to.include('PATCH').and.include('DELETE')
    expect(preflight.headers['access-control-allow-headers'])
      .to.include('Authorization')
      .and.include('Upload-Offset')
    const refused = await exchange(service, '/v1/tus', { method: 'POST', headers: TUS })
    expect(refused.status).to.equal(401)
    expect(refused.headers['access-control-allow-origin']).to.equal('*')
    expect(refused.headers['access-control-expose-headers'])
      .to.include('Upload-Offset')
      .and.include('Upload-Record')
  })
})
