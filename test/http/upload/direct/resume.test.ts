import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { unavailable } from '../../../../src/core/problem.ts'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../../../support/backends.ts'
import { command } from '../../../support/command.ts'
import { eventually } from '../../../support/eventually.ts'
import { ADMIN_PASSWORD, signedIn } from '../../../support/requests/admin.ts'
import { ask } from '../../../support/requests/ask.ts'
import type { Caller } from '../../../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { s3Server } from '../../../support/servers/s3-server.ts'
import { type Service, startService } from '../../../support/service.ts'
import { itLong, sized } from '../../../support/sized.ts'
import { wrapBuckets } from '../../../support/storage.ts'
import {
  abortDirect,
  askDirect,
  askRest,
  begunDirect,
  completeDirect,
  inSmallParts,
  oneByOne,
  PART_BYTES,
  put,
  putAll,
  recordOf,
  restOf,
} from '../../../support/stored/direct-uploads.ts'
import { noise } from '../../../support/stored/noise.ts'

const MIB = 1024 ** 2
const BYTES = noise(11 * MIB)
const SMALL = noise(5000)

describe('direct uploads that are interrupted', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))
  const expectProblem = (answer: Answer, status: number, code: string) =>
    expect([answer.status, jsonOf(answer).code], String(answer.body)).to.deep.equal([status, code])
  const linkOf = async (service: Service) => {
    const { body } = await ask(service, '/v1/sign', { method: 'POST', json: { expiresIn: 600 } })
    return (body as { url: string }).url
  }
  /** A step that waits until the test lets it go on. */
  function gate() {
    let open = () => {}
    let arrive = () => {}
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const pass = () => {
      arrive()
      return opened
    }
    return { open, arrived, pass }
  }

  it('continue with the missing parts, by the secret or by their URL', async () => {
    const service = await start({ wrapStorage: wrapBuckets(inSmallParts) })
    const usual = await linkOf(service)
    for (const link of sized([usual], [undefined, usual])) {
      const begun = await begunDirect(service, { name: 'a.bin', size: BYTES.length, ...(link && { link }) })
      expect(begun.state).to.equal('receiving')
      const [, two] = begun.requests
      if (!two) throw new Error('no second part')
      expect(await put(two, BYTES)).to.equal(200)
      const answer = await askRest(service, begun)
      expect(answer.headers).to.include({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' })
      const rest = await restOf(service, begun)
      expect(rest).to.include({ id: begun.id, url: begun.url, state: 'receiving' })
      expect(rest.requests.map(({ start: from, size }) => [from, size])).to.deep.equal([
        [0, PART_BYTES],
        [2 * PART_BYTES, MIB],
      ])
      await putAll(rest, BYTES)
      const whole = await restOf(service, begun)
      expect(whole).to.deep.include({ state: 'receiving', requests: [] })
      // No URL expires any more, only the upload itself does.
      expect(Date.parse(whole.expiresAt)).to.be.greaterThan(Date.parse(rest.expiresAt) + 3_500_000)
      const record = recordOf(await completeDirect(service, begun))
      expect((await exchange(service, new URL(record.src).pathname)).body.equals(BYTES)).to.equal(true)
      expect(await restOf(service, begun)).to.deep.include({ state: 'stored', requests: [] })
    }
    const preflight = await exchange(service, `/v1/upload/direct/${'a'.repeat(22)}`, { method: 'OPTIONS' })
    expect(preflight.headers['access-control-allow-methods']).to.equal('GET, POST, DELETE')
    expectProblem(
      await askRest(service, { url: `${service.url}/v1/upload/direct/${'a'.repeat(22)}` }),
      404,
      'upload_not_found',
    )
  })

  it('have the requests for the first parts, and then for the next ones', async () => {
    const service = await start({ wrapStorage: wrapBuckets(oneByOne) })
    const begun = await begunDirect(service, { name: 'a.bin', size: BYTES.length })
    const shown: unknown[] = []
    for (let page = begun; page.requests.length > 0; page = await restOf(service, begun)) {
      shown.push([page.missingBytes, ...page.requests.map(({ start: from }) => from)])
      expectProblem(await completeDirect(service, begun), 409, 'upload_incomplete')
      await putAll(page, BYTES)
    }
    expect(shown).to.deep.equal([
      [11 * MIB, 0],
      [6 * MIB, PART_BYTES],
      [MIB, 2 * PART_BYTES],
    ])
    const record = recordOf(await completeDirect(service, begun))
    expect((await exchange(service, new URL(record.src).pathname)).body.equals(BYTES)).to.equal(true)
    expect(await restOf(service, begun)).to.include({ state: 'stored', missingBytes: 0 })
  })

  it('may have terabytes, which an upload through the service may not', async () => {
    const service = await start({ env: { UPLOAD_MAX_BYTES: String(5 * 1024 ** 4) } })
    const size = 5 * 1024 ** 4
    const begun = await begunDirect(service, { name: 'a.bin', size })
    expect(begun.missingBytes).to.equal(size)
    expect(begun.requests).to.have.lengthOf(200)
    expect((await abortDirect(service, begun)).status).to.equal(204)
    expectProblem(await askDirect(service, { name: 'a.bin', size: size + 1 }), 413, 'too_large')
    const headers = {
      Authorization: service.tokens.secretClientToken,
      'Tus-Resumable': '1.0.0',
      'Upload-Length': String(10_000 * 8 * MIB + 1),
    }
    const tus = await exchange(service, '/v1/tus', { method: 'POST', headers })
    expect(tus.status).to.equal(413)
  })

  itLong(
    'get new URLs when theirs have expired, until no part has arrived for the time of an upload',
    async () => {
      const service = await start({ env: { RESUMABLE_UPLOAD_TTL_SECONDS: '4' } })
      const begunAt = Date.now()
      const idle = await begunDirect(service, { name: 'a.bin', size: SMALL.length })
      const begun = await begunDirect(service, { name: 'a.bin', size: BYTES.length })
      const [first] = begun.requests
      if (!first) throw new Error('no request')
      await pause(5000)
      expect(await put(first, BYTES)).to.equal(403)
      const rest = await restOf(service, begun)
      expect(Date.parse(rest.expiresAt)).to.be.within(Date.now(), begunAt + 8500)
      await putAll(rest, BYTES)
      await pause(Math.max(0, begunAt + 8500 - Date.now()))
      expectProblem(await askRest(service, idle), 410, 'upload_expired')
      await command(service, 'sweep', {})
      const later = await restOf(service, begun)
      expect(Date.parse(later.expiresAt)).to.be.greaterThan(begunAt + 12_000)
      expect(recordOf(await completeDirect(service, begun)).size).to.equal(BYTES.length)
    },
  )

  itLong('need no part again after a process died that had joined them', async () => {
    let fails = false
    const service = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async joinParts(...args) {
          await bucket.joinParts?.(...args)
          fails = true
        },
        async put(key, bytes, options) {
          if (fails && key.endsWith('.json')) {
            fails = false
            bytes.destroy()
            throw unavailable('the process has died')
          }
          await bucket.put(key, bytes, options)
        },
      })),
    })
    const begun = await begunDirect(service, { name: 'a.bin', size: SMALL.length })
    await putAll(begun, SMALL)
    expect((await completeDirect(service, begun)).status).to.equal(503)
    expect(await restOf(service, begun)).to.deep.include({ state: 'receiving', requests: [] })
    expect(recordOf(await completeDirect(service, begun)).size).to.equal(SMALL.length)
  })

  itLong('cannot be aborted while they are stored, and are found as such', async () => {
    const copy = gate()
    const service = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async copyFromFirst(...args) {
          await copy.pass()
          return (await bucket.copyFromFirst?.(...args)) ?? false
        },
      })),
    })
    const begun = await begunDirect(service, { name: 'a.bin', size: SMALL.length })
    await putAll(begun, SMALL)
    const completing = completeDirect(service, begun)
    await copy.arrived
    expect(await restOf(service, begun)).to.deep.include({ state: 'storing', requests: [] })
    expectProblem(await abortDirect(service, begun), 409, 'upload_complete')
    copy.open()
    const record = recordOf(await completing)
    expect((await abortDirect(service, begun)).status).to.equal(204)
    expect((await exchange(service, new URL(record.src).pathname)).status).to.equal(200)
  })

  it('are aborted when they are complete and cannot be stored', async () => {
    const service = await start({
      wrapStorage: wrapBuckets(() => ({ copyFromFirst: () => Promise.reject(unavailable('no space')) })),
    })
    const begun = await begunDirect(service, { name: 'a.bin', size: SMALL.length })
    await putAll(begun, SMALL)
    expect((await completeDirect(service, begun)).status).to.equal(503)
    expect((await restOf(service, begun)).state).to.equal('storing')
    expect((await abortDirect(service, begun)).status).to.equal(204)
    expect((await service.objects()).filter((key) => key.includes(begun.id))).to.deep.equal([])
    expectProblem(await completeDirect(service, begun), 404, 'upload_not_found')
  })

  it('are stored or aborted, and never both, when both are requested at once', async () => {
    const join = gate()
    const service = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        async joinParts(...args) {
          await join.pass()
          await bucket.joinParts?.(...args)
        },
      })),
    })
    const begun = await begunDirect(service, { name: 'a.bin', size: SMALL.length })
    await putAll(begun, SMALL)
    const completing = completeDirect(service, begun)
    await join.arrived
    const aborting = abortDirect(service, begun)
    await pause(200)
    join.open()
    expectProblem(await aborting, 409, 'upload_complete')
    expect(recordOf(await completing).size).to.equal(SMALL.length)
    // A complete that fails does not prevent it.
    const other = await begunDirect(service, { name: 'a.bin', size: SMALL.length })
    const [failed, aborted] = await Promise.all([completeDirect(service, other), abortDirect(service, other)])
    expect(aborted.status).to.equal(204)
    expect(failed.status).to.be.oneOf([404, 409])
    await eventually(async () =>
      expect((await service.objects()).filter((key) => key.includes(other.id))).to.deep.equal([]),
    )
  })

  itLong(
    'take a point of the rate limit to be completed, and no further one while they are stored',
    async () => {
      const copy = gate()
      const service = await start({
        env: { UPLOAD_RATE_LIMIT: '2' },
        wrapStorage: wrapBuckets((bucket) => ({
          async copyFromFirst(...args) {
            await copy.pass()
            return (await bucket.copyFromFirst?.(...args)) ?? false
          },
        })),
      })
      const begun = await begunDirect(service, { name: 'a.bin', size: SMALL.length })
      await putAll(begun, SMALL)
      const completing = completeDirect(service, begun)
      await copy.arrived
      expectProblem(await askDirect(service, { name: 'a', size: 1 }), 429, 'rate_limited')
      const polls = [1, 2, 3].map(() => completeDirect(service, begun))
      expect((await restOf(service, begun)).state).to.equal('storing')
      copy.open()
      for (const answer of await Promise.all([completing, ...polls])) recordOf(answer)
      recordOf(await completeDirect(service, begun))
    },
  )

  it('are not joined by a request above the rate limit', async () => {
    const service = await start({ env: { UPLOAD_RATE_LIMIT: '3' } })
    const begun = await begunDirect(service, { name: 'a.bin', size: SMALL.length })
    expectProblem(await completeDirect(service, begun), 409, 'upload_incomplete')
    expect((await askRest(service, begun)).status).to.equal(200)
    await putAll(begun, SMALL)
    expectProblem(await completeDirect(service, begun), 429, 'rate_limited')
    expectProblem(await askRest(service, begun), 429, 'rate_limited')
    // Only its parts are there.
    const objects = await service.objects()
    expect(objects.filter((key) => key.startsWith('first/.sluice/tus/pieces/'))).to.deep.equal([])
  })
})

describe('direct uploads that a program begins by itself', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))
  const automatic = { name: 'a.bin', size: 1, automatic: true }
  const codeOf = async (caller: Caller, body: object) => {
    const answer = await askDirect(caller, body)
    return answer.status === 201 ? 201 : jsonOf(answer).code
  }

  it('are refused where clients may be unable to reach the bucket, and take no point of the rate limit', async () => {
    const service = await start({ env: { UPLOAD_RATE_LIMIT: '1' } })
    for (const _ of [1, 2]) expect(await codeOf(service, automatic)).to.equal('direct_uploads_off')
    expect(await codeOf(service, { ...automatic, automatic: false })).to.equal(201)
  })

  itLong('are accepted with S3_DIRECT_ENDPOINT, but not for a client with its own bucket', async () => {
    const s3 = await s3Server()
    const { endpoint, region, credentials, forcePathStyle } = s3.connection
    const service = await start({ env: { ADMIN_PASSWORD, S3_DIRECT_ENDPOINT: endpoint } })
    expect(await codeOf(service, automatic)).to.equal(201)
    const { accessKeyId, secretAccessKey } = credentials
    const asOperator = await signedIn(service)
    const { json } = await asOperator('POST', '', {
      storage: {
        endpoint,
        region,
        accessKeyId,
        secretAccessKey,
        forcePathStyle,
        bucket: await s3.newBucket(),
      },
    })
    const client: Caller = { url: service.url, tokens: json as Caller['tokens'] }
    expect(await codeOf(client, automatic)).to.equal('direct_uploads_off')
    expect(await codeOf(client, { ...automatic, automatic: false })).to.equal(201)
  })

  it('are refused without the permission to list parts, before bytes are sent, and leave the link free', async () => {
    const { endpoint } = (await s3Server()).connection
    let asked = 0
    const service = await start({
      env: { S3_DIRECT_ENDPOINT: endpoint, UPLOAD_RATE_LIMIT: '3' },
      wrapStorage: wrapBuckets(() => ({
        partsOf() {
          asked += 1
          const cause = Object.assign(new Error(), { name: 'AccessDenied' })
          return Promise.reject(unavailable('refused', { cause }))
        },
      })),
    })
    const { body } = await ask(service, '/v1/sign', { method: 'POST', json: { expiresIn: 600 } })
    const { url: link } = body as { url: string }
    expect(await codeOf(service, { ...automatic, link })).to.equal('direct_uploads_off')
    // The refusal is remembered for a while: others take no point of the rate limit.
    for (const _ of [1, 2, 3])
      expect(await codeOf(service, { ...automatic, link })).to.equal('direct_uploads_off')
    expect(asked).to.equal(1)
    expect((await askDirect(service, { ...automatic, automatic: false })).status).to.equal(503)
    expect((await service.objects()).filter((key) => key.includes('/tus/'))).to.deep.equal([])
    expect((await fetch(link, { method: 'PUT', body: SMALL })).status).to.equal(200)
  })

  itLong('fail when the permission cannot be checked, and are accepted after the outage', async () => {
    const { endpoint } = (await s3Server()).connection
    let fails = true
    const service = await start({
      env: { S3_DIRECT_ENDPOINT: endpoint },
      wrapStorage: wrapBuckets((bucket) => ({
        async partsOf(...args) {
          if (fails) throw unavailable('The bucket reported an internal error or overload.')
          return (await bucket.partsOf?.(...args)) ?? []
        },
      })),
    })
    expect(await codeOf(service, automatic)).to.equal('unavailable')
    expect((await service.objects()).filter((key) => key.includes('/tus/'))).to.deep.equal([])
    fails = false
    expect(await codeOf(service, automatic)).to.equal(201)
  })
})
