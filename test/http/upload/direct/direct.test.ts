import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { S3_EMBEDDED, S3_REDIS, stoppedAtTheEnd } from '../../../support/backends.ts'
import { command } from '../../../support/command.ts'
import { picture } from '../../../support/media/images.ts'
import { ask } from '../../../support/requests/ask.ts'
import { type Caller, newClient, postFiles } from '../../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { type Service, startService } from '../../../support/service.ts'
import { everyNth, itLong, sized } from '../../../support/sized.ts'
import { wrapBuckets } from '../../../support/storage.ts'
import { startedWithClock } from '../../../support/stored/clock.ts'
import {
  abortDirect,
  askDirect,
  askRest,
  begunDirect,
  completeDirect,
  inSmallParts,
  PART_BYTES,
  put,
  putAll,
  recordOf,
} from '../../../support/stored/direct-uploads.ts'
import { noise } from '../../../support/stored/noise.ts'

const MIB = 1024 ** 2
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

for (const backend of sized([S3_EMBEDDED], [S3_EMBEDDED, S3_REDIS]))
  describe(`direct uploads (${backend.name})`, () => {
    const start = stoppedAtTheEnd((options) => startService({ backend, ...options }))
    /** Originals that have passed through the process. */
    const passed: string[] = []
    let service: Service
    let client: Caller & { id: string }
    let png: Buffer
    before(async () => {
      png = await picture()
      service = await start({
        env: { UPLOAD_MAX_BYTES: String(40 * MIB) },
        wrapStorage: wrapBuckets((bucket) => ({
          ...inSmallParts(bucket),
          async put(key, bytes, options) {
            if (!key.startsWith('.sluice/')) passed.push(key)
            await bucket.put(key, bytes, options)
          },
        })),
      })
      client = await newClient(service)
    })
    beforeEach(() => {
      passed.length = 0
    })

    const left = async () => (await service.objects()).filter((key) => key.includes('.sluice/tus/'))
    const mine = async () =>
      (await service.objects()).filter((key) => key.startsWith(`${client.id}/`) && !key.includes('.sluice/'))
    const expectProblem = (answer: Answer, status: number, code: string) =>
      expect([answer.status, jsonOf(answer).code], String(answer.body)).to.deep.equal([status, code])

    for (const who of everyNth(2, ['another client', 'the first client']))
      it(`store a small file of ${who}, which never passes through the service`, async () => {
        const owner = who === 'another client' ? client : service
        const digest = sha256(png)
        const begun = await begunDirect(owner, {
          name: 'mine.png',
          size: png.length,
          folder: 'a/b',
          type: 'image/png',
          sha256: digest.toUpperCase(),
          tags: ['one'],
          metadata: { album: 'x' },
        })
        expect(begun.requests).to.have.lengthOf(1)
        await putAll(begun, png)
        const record = recordOf(await completeDirect(owner, begun))
        expect(record).to.include({ originalName: 'mine.png', size: png.length, format: 'png' })
        expect(record.s3PathOriginal).to.match(/^a\/b\/image\/png\//)
        expect((await exchange(service, new URL(record.src).pathname)).body.equals(png)).to.equal(true)
        const { body } = await ask(owner, `/v1/files/${record.s3PathOriginal}`)
        expect(body).to.deep.include({ sha256: digest, tags: ['one'], metadata: { album: 'x' } })
        expect(passed).to.deep.equal([])
        expect((await left()).filter((key) => key.includes('/pieces/'))).to.deep.equal([])
      })

    it('store a large file in parts, in any order, one of them repeated', async () => {
      const bytes = noise(11 * MIB)
      const begun = await begunDirect(client, {
        name: 'large.bin',
        size: bytes.length,
        sha256: sha256(bytes),
      })
      expect(begun.requests.map(({ start: from, size }) => [from, size])).to.deep.equal([
        [0, PART_BYTES],
        [PART_BYTES, PART_BYTES],
        [2 * PART_BYTES, MIB],
      ])
      const [one, two, three] = begun.requests as Required<typeof begun.requests>
      if (!one || !two || !three) throw new Error('no three parts')
      expect(await put(three, bytes)).to.equal(200)
      expect(await put(one, noise(11 * MIB))).to.equal(200)
      const early = await completeDirect(client, begun)
      expectProblem(early, 409, 'upload_incomplete')
      expect(jsonOf(early).detail).to.include('part 2 is missing')
      expect(await put(one, bytes)).to.equal(200)
      expect(await put(two, bytes)).to.equal(200)
      const record = recordOf(await completeDirect(client, begun))
      const delivered = await exchange(service, new URL(record.src).pathname)
      expect(delivered.body.equals(bytes)).to.equal(true)
      expect(passed).to.deep.equal([])
      expect((await left()).filter((key) => !key.endsWith('.json'))).to.deep.equal([])
    })

    if (backend === S3_EMBEDDED)
      itLong('have parts of 16 MiB', async () => {
        const usual = await start()
        const begun = await begunDirect(usual, { name: 'large.bin', size: 33 * MIB })
        expect(begun.requests.map(({ start: from, size }) => [from, size])).to.deep.equal([
          [0, 16 * MIB],
          [16 * MIB, 16 * MIB],
          [32 * MIB, MIB],
        ])
        expect((await abortDirect(usual, begun)).status).to.equal(204)
      })

    it('answer the same record again, also to two requests at once', async () => {
      const begun = await begunDirect(client, { name: 'twice.png', size: png.length })
      await putAll(begun, png)
      const before = (await mine()).length
      const answers = await Promise.all([completeDirect(client, begun), completeDirect(client, begun)])
      const records = [...answers, await completeDirect(client, begun)].map(recordOf)
      expect(new Set(records.map(({ src }) => src)).size).to.equal(1)
      // The original and its record.
      expect((await mine()).length).to.equal(before + 1)
    })

    it('are refused before anything is permitted: size, type, folder, digest', async () => {
      await service.app.clients.setRules(client.id, { uploadTypes: ['image/*'], uploadMaxBytes: 1000 })
      const before = await left()
      const begin = (body: object) => askDirect(client, { name: 'a.png', size: 10, ...body })
      expectProblem(await begin({ size: 1001 }), 413, 'too_large')
      expectProblem(await begin({ type: 'text/html' }), 415, 'type_not_allowed')
      await service.app.clients.setRules(client.id, { uploadTypes: false, uploadMaxBytes: false })
      expectProblem(await begin({ size: 40 * MIB + 1 }), 413, 'too_large')
      expectProblem(await begin({ size: 0 }), 400, 'bad_parameter')
      expectProblem(await begin({ size: 1.5 }), 400, 'bad_parameter')
      expectProblem(await begin({ sha256: 'abc' }), 400, 'bad_parameter')
      expectProblem(await begin({ folder: '../a' }), 400, 'bad_path')
      expectProblem(await begin({ folder: '.sluice' }), 400, 'bad_path')
      expectProblem(await begin({ tags: 'a' }), 400, 'bad_parameter')
      expectProblem(await begin({ unknown: 1 }), 400, 'bad_parameter')
      const { status } = await ask(client, '/v1/upload/direct', { method: 'POST', json: {}, secret: 'no' })
      expect(status).to.equal(401)
      expect(await left()).to.deep.equal(before)
    })

    it('fix key and length of the request, which the bucket checks, and are no object before they are complete', async () => {
      const begun = await begunDirect(client, { name: 'a.png', size: png.length })
      const [request] = begun.requests
      if (!request) throw new Error('no request')
      const send = async (body: Uint8Array, headers = request.headers, url = request.url) =>
        (await fetch(url, { method: 'PUT', headers, body })).status
      expect(await send(png.subarray(1))).to.equal(403)
      expect(await send(Buffer.concat([png, png]))).to.equal(403)
      expect(await send(png, request.headers, request.url.replace('/pieces/', '/uploads/'))).to.equal(403)
      expectProblem(await completeDirect(client, begun), 409, 'upload_incomplete')
      expect(await send(png)).to.equal(200)
      // Nobody can read a part of a multipart upload, also in a public bucket.
      const pieces = (await left()).filter((key) => key.includes('/pieces/'))
      expect(pieces.every((key) => key.startsWith('half of '))).to.equal(true)
      recordOf(await completeDirect(client, begun))
    })

    it('accept no bytes any more when they are aborted', async () => {
      const begun = await begunDirect(client, { name: 'a.png', size: png.length })
      const [request] = begun.requests
      if (!request) throw new Error('no request')
      expect(await put(request, png)).to.equal(200)
      expect((await abortDirect(client, begun)).status).to.equal(204)
      expect(await put(request, png)).to.equal(404)
      expect((await left()).filter((key) => key.includes(begun.id))).to.deep.equal([])
    })

    itLong('are refused in a folder of another system, and leave nothing there', async () => {
      const guarded = await start({ env: { FOREIGN_PREFIXES: 'legacy' } })
      const begun = await begunDirect(guarded, { name: 'a.png', size: png.length, folder: 'legacy' })
      await putAll(begun, png)
      expectProblem(await completeDirect(guarded, begun), 400, 'bad_path')
      expectProblem(await completeDirect(guarded, begun), 404, 'upload_not_found')
      expect((await guarded.objects()).filter((key) => key.startsWith('legacy/'))).to.deep.equal([])
    })

    it('are refused and discarded with other bytes than the digest states', async () => {
      const begun = await begunDirect(client, { name: 'a.png', size: png.length, sha256: sha256(png) })
      const other = Buffer.from(png)
      other[other.length - 1] = (other.at(-1) ?? 0) ^ 1
      await putAll(begun, other)
      const before = await mine()
      expectProblem(await completeDirect(client, begun), 400, 'digest_mismatch')
      expectProblem(await completeDirect(client, begun), 404, 'upload_not_found')
      expect(await mine()).to.deep.equal(before)
      expect((await left()).filter((key) => key.includes(begun.id))).to.deep.equal([])
    })

    it('obey the rules of the client by the bytes: an executable, a polyglot, pixels', async () => {
      await service.app.clients.setRules(client.id, { uploadTypes: ['image/*'], uploadMaxPixels: 100_000 })
      const refused = async (bytes: Buffer, status: number, code: string) => {
        const before = await mine()
        const begun = await begunDirect(client, { name: 'a.png', size: bytes.length, type: 'image/png' })
        await putAll(begun, bytes)
        expectProblem(await completeDirect(client, begun), status, code)
        expect(await mine()).to.deep.equal(before)
        // What an ordinary upload answers.
        const ordinary = await postFiles(client, [{ name: 'a.png', bytes, type: 'image/png' }])
        expect(((await ordinary.json()) as { code: string }).code).to.equal(code)
      }
      try {
        const exe = Buffer.concat([
          Buffer.from('MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff', 'latin1'),
          noise(5000),
        ])
        await refused(exe, 415, 'type_not_allowed')
        const html = Buffer.from(
          `<!DOCTYPE html><script>alert(1)</script>\x89PNG${'x'.repeat(500)}`,
          'latin1',
        )
        await refused(html, 415, 'type_not_allowed')
        await refused(await picture({ width: 400, height: 400 }), 422, 'image_size_not_allowed')
      } finally {
        await service.app.clients.setRules(client.id, { uploadTypes: false, uploadMaxPixels: false })
      }
    })

    it('cannot be replaced from the check of the file on', async () => {
      const page = Buffer.from('<!DOCTYPE html><p>'.padEnd(png.length, 'x'))
      const statuses: number[] = []
      let replace = async () => {}
      const late = await start({
        wrapStorage: wrapBuckets((bucket) => ({
          async copyFromFirst(from, to, options) {
            await replace()
            return (await bucket.copyFromFirst?.(from, to, options)) ?? false
          },
        })),
      })
      const begun = await begunDirect(late, { name: 'a.png', size: png.length })
      const [request] = begun.requests
      if (!request) throw new Error('no request')
      await putAll(begun, png)
      // Its type was detected, and it is about to be copied.
      replace = async () => void statuses.push(await put(request, page))
      const record = recordOf(await completeDirect(late, begun))
      statuses.push(await put(request, page))
      expect(statuses).to.deep.equal([404, 404])
      expect((await exchange(late, new URL(record.src).pathname)).body.equals(png)).to.equal(true)
      expect((await late.objects()).filter((key) => key.includes('/pieces/'))).to.deep.equal([])
    })

    itLong('are stored next to a duplicate, as other resumable uploads', async () => {
      const bytes = noise(5000)
      await service.app.clients.setRules(client.id, { dedupe: 'reuse' })
      const [first] = (await (await postFiles(client, [{ name: 'a.bin', bytes }])).json()) as [
        { src: string },
      ]
      const begun = await begunDirect(client, { name: 'a.bin', size: bytes.length })
      await putAll(begun, bytes)
      // The id of the file is fixed when the upload begins.
      const record = recordOf(await completeDirect(client, begun))
      expect(record.src).not.to.equal(first.src)
      await service.app.clients.setRules(client.id, { dedupe: false })
    })

    it('belong to their client, and to the folder of a secret', async () => {
      const other = await newClient(service)
      const begun = await begunDirect(client, { name: 'a.png', size: png.length, folder: 'x' })
      await putAll(begun, png)
      expectProblem(await completeDirect(other, begun), 404, 'upload_not_found')
      expectProblem(await abortDirect(other, begun), 404, 'upload_not_found')
      expectProblem(await askRest(other, begun), 404, 'upload_not_found')
      expectProblem(await askRest(client, { url: `${begun.url}~${client.id}` }), 404, 'upload_not_found')
      expectProblem(
        await completeDirect(client, { url: `${begun.url}~${client.id}` }),
        404,
        'upload_not_found',
      )
      const { secret } = await service.app.clients.addSecret(client.id, { scope: { folder: 'y' } })
      const narrow = { ...client, tokens: { ...client.tokens, secretClientToken: secret } }
      expectProblem(await completeDirect(narrow, begun), 404, 'upload_not_found')
      expectProblem(await askRest(narrow, begun), 404, 'upload_not_found')
      const { secret: reader } = await service.app.clients.addSecret(client.id, { scope: { only: 'read' } })
      const reading = { ...client, tokens: { ...client.tokens, secretClientToken: reader } }
      expectProblem(await askRest(reading, begun), 403, 'out_of_scope')
      expectProblem(await askDirect(narrow, { name: 'a', size: 1, folder: 'x' }), 403, 'out_of_scope')
      // Nor are they uploads of tus, whose requests would add other pieces.
      const tus = { 'Tus-Resumable': '1.0.0', Authorization: client.tokens.secretClientToken }
      for (const method of ['HEAD', 'DELETE', 'GET']) {
        const answer = await exchange(service, `/v1/tus/${begun.id}`, { method, headers: tus })
        expect(answer.status, method).to.equal(404)
      }
      recordOf(await completeDirect(client, begun))
    })

    it('are aborted with all their parts', async () => {
      const bytes = noise(6 * MIB)
      const begun = await begunDirect(client, { name: 'a.bin', size: bytes.length })
      const [one, two] = begun.requests
      if (!one || !two) throw new Error('no two parts')
      expect(await put(one, bytes)).to.equal(200)
      expect((await left()).some((key) => key.startsWith('half of'))).to.equal(true)
      expect((await abortDirect(client, begun)).status).to.equal(204)
      expect((await left()).filter((key) => key.includes(begun.id))).to.deep.equal([])
      expect(await put(two, bytes)).to.equal(404)
      expectProblem(await completeDirect(client, begun), 404, 'upload_not_found')
      expectProblem(await abortDirect(client, begun), 404, 'upload_not_found')
    })

    it('leave files in a folder called "direct" alone', async () => {
      const [record] = (await (
        await postFiles(client, [{ name: 'a.png', bytes: png }], { path: 'direct' })
      ).json()) as [{ sourceName: string }]
      const path = `/v1/upload/direct/${record.sourceName}`
      expect((await ask(client, path, { method: 'DELETE' })).status).to.equal(200)
      expect((await ask(client, '/v1/upload/direct', { method: 'PUT', json: {} })).status).to.equal(200)
    })

    it('are begun by a signed link, and completed by their URL alone', async () => {
      const { body } = await ask(client, '/v1/sign', {
        method: 'POST',
        json: { folder: 'avatars', expiresIn: 600, maxBytes: png.length, types: ['image/*'] },
      })
      const { url: link } = body as { url: string }
      expectProblem(await askDirect(client, { name: 'a', size: png.length + 1, link }), 413, 'too_large')
      expectProblem(
        await askDirect(client, { name: 'a', size: 1, link, type: 'text/css' }),
        415,
        'type_not_allowed',
      )
      expectProblem(await askDirect(client, { name: 'a', size: 1, link, tags: ['a'] }), 400, 'bad_parameter')
      expectProblem(await askDirect(client, { name: 'a', size: 1, link, folder: 'b' }), 400, 'bad_parameter')
      expectProblem(
        await askDirect(client, { name: 'a', size: 1, link: 'https://a.example' }),
        400,
        'bad_parameter',
      )
      expectProblem(await askDirect(client, { name: 'a', size: 1, link: `${link}0` }), 403, 'link_invalid')
      const begun = await begunDirect(client, { name: 'a.png', size: png.length, link })
      expect(begun.url).to.include(`~${client.id}`)
      expectProblem(await askDirect(client, { name: 'a', size: 1, link }), 409, 'link_busy')
      await putAll(begun, png)
      const answer = await completeDirect(client, begun)
      expect(recordOf(answer).s3PathOriginal).to.match(/^avatars\/image\/png\//)
      expect(answer.headers['access-control-allow-origin']).to.equal('*')
      expect(recordOf(await completeDirect(client, begun)).src).to.equal(recordOf(answer).src)
      expectProblem(await askDirect(client, { name: 'a', size: 1, link }), 409, 'link_used')
    })

    it('expire, and are swept with their parts', async () => {
      const clock = { aheadMs: 0 }
      const short = await startedWithClock(clock, () =>
        start({
          env: { RESUMABLE_UPLOAD_TTL_SECONDS: '3600' },
          wrapStorage: wrapBuckets(inSmallParts),
        }),
      )
      const bytes = noise(6 * MIB)
      const large = await begunDirect(short, { name: 'a.bin', size: bytes.length })
      const small = await begunDirect(short, { name: 'a.png', size: png.length })
      const [one] = large.requests
      const [only] = small.requests
      if (!one || !only) throw new Error('no requests')
      expect(await put(one, bytes)).to.equal(200)
      await putAll(small, png)
      const remains = async () => (await short.objects()).filter((key) => key.includes('.sluice/tus/'))
      // A file that its client has not completed is not stored by a sweep.
      await command(short, 'sweep', {})
      expect(await remains()).to.have.lengthOf(4)
      // The URL lasts as long: resume.test.ts sees that an S3 server refuses it then.
      expect(new URL(only.url).searchParams.get('X-Amz-Expires')).to.equal('3600')
      // The time without a new part, and the one that a client has to complete it.
      clock.aheadMs = 2.25 * 3_600_000
      expectProblem(await completeDirect(short, small), 410, 'upload_expired')
      await command(short, 'sweep', {})
      expect(await remains()).to.deep.equal([])
      expect((await short.objects()).filter((key) => !key.includes('.sluice/'))).to.deep.equal([])
      expectProblem(await completeDirect(short, large), 404, 'upload_not_found')
    })
  })
