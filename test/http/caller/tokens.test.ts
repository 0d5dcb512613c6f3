import { once } from 'node:events'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import {
  type Caller,
  deleteFile,
  newClient,
  postFiles,
  postZip,
  rawPath,
  uploadOne,
} from '../../support/requests/client.ts'
import { type Answer, exchange, jsonOf, openSocket } from '../../support/requests/exchange.ts'
import { MULTIPART, multipart } from '../../support/requests/multipart.ts'
import type { Service } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'

onOneBackend('tokens', (start, backend) => {
  let service: Service
  let other: Caller & { id: string }
  let png: Buffer
  before(async () => {
    png = await picture()
    service = await start({ env: { ZIP_RATE_LIMIT: '1000' } })
    other = await newClient(service)
  })

  const form = multipart([{ disposition: 'name="file"; filename="a.txt"', bytes: 'text' }])
  /** The three endpoints that want a secret, each asked for something that it would do for `mine`. */
  const endpoints: Record<string, (headers: Record<string, string>) => Promise<Answer>> = {
    upload: (headers) =>
      exchange(service, '/v1/upload', {
        method: 'POST',
        headers: { 'Content-Type': MULTIPART, ...headers },
        body: form,
      }),
    zip: async (headers) => {
      const { sourceName } = await uploadOne(service, { name: 'a.png', bytes: png })
      return exchange(service, '/v1/zip', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ files: [{ path: sourceName }] }),
      })
    },
    delete: async (headers) => {
      const { s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: png })
      return exchange(service, `/v1/upload/${s3PathOriginal}`, { method: 'DELETE', headers })
    },
  }

  for (const [endpoint, call] of Object.entries(endpoints)) {
    // All endpoints read the header in one place.
    const step = endpoint === 'upload' ? 1 : 3
    describe(endpoint, () => {
      const accepted: Record<string, (secret: string) => string> = {
        'as it is': (secret) => secret,
        'after Bearer': (secret) => `Bearer ${secret}`,
        'after bearer and more spaces': (secret) => `bearer   ${secret}`,
      }
      for (const [how, authorization] of everyNth(step, Object.entries(accepted))) {
        it(`accepts the secret ${how}`, async () => {
          const { status } = await call({ Authorization: authorization(service.tokens.secretClientToken) })
          expect(status).to.equal(200)
        })
      }

      const refused: Record<string, () => Record<string, string>> = {
        'no header': () => ({}),
        'an empty header': () => ({ Authorization: '' }),
        'Bearer alone': () => ({ Authorization: 'Bearer ' }),
        'a wrong secret': () => ({ Authorization: 'sec_wrong' }),
        'the public token': () => ({ Authorization: service.tokens.clientToken }),
        'a truncated secret': () => ({ Authorization: service.tokens.secretClientToken.slice(0, -1) }),
        'a secret with something after it': () => ({ Authorization: `${service.tokens.secretClientToken}x` }),
        'the secret in another scheme': () => ({
          Authorization: `Basic ${Buffer.from(`:${service.tokens.secretClientToken}`).toString('base64')}`,
        }),
        'the secret in another header': () => ({ 'X-Api-Key': service.tokens.secretClientToken }),
        'a word of every object': () => ({ Authorization: '__proto__' }),
      }
      for (const [what, headers] of everyNth(step, Object.entries(refused))) {
        it(`responds 401 to ${what}`, async () => {
          const before = (await service.objects()).length
          const answer = await call(headers())
          expect(answer.status).to.equal(401)
          expect(answer.headers['www-authenticate']).to.equal('Bearer realm="sluice"')
          expect(answer.headers['content-type']).to.equal('application/problem+json')
          expect(jsonOf(answer).code).to.equal('unauthorized')
          // The file that the call has put there to be zipped or deleted is still there, and nothing else.
          const added = endpoint === 'upload' ? 0 : 2
          expect(await service.objects()).to.have.length(before + added)
        })
      }
    })
  }

  it('responds 401 before any other error', async () => {
    for (const [method, target] of [
      ['POST', '/v1/upload?nonsense=1'],
      ['POST', '/v1/upload?path=..'],
      ['POST', '/v1/zip'],
      ['DELETE', '/v1/upload/a%2f..%2fb'],
    ] as const)
      expect((await exchange(service, target, { method })).status, target).to.equal(401)
  })

  it('states whether the secret is missing or wrong, and does not repeat it', async () => {
    for (const [authorization, received] of [
      [undefined, 'but received none'],
      ['sec_wrong', 'but the token received is unknown'],
      [
        `Bearer ${service.tokens.clientToken}`,
        'but received the public client token, which is only for URLs. Send the secret token',
      ],
      [
        `Basic ${Buffer.from('user:sec_wrong').toString('base64')}`,
        'but received Basic authentication. Send "Authorization: Bearer <secret>"',
      ],
    ]) {
      const headers = authorization === undefined ? {} : { Authorization: authorization }
      const answer = await exchange(service, '/v1/upload/a.png', { method: 'DELETE', headers })
      expect(jsonOf(answer).detail).to.equal(
        `expected a secret client token in the Authorization header ${received}`,
      )
    }
  })

  for (const [endpoint, type] of Object.entries({ upload: MULTIPART, zip: 'application/json' })) {
    it(`responds 401 on ${endpoint} before the body arrives`, async () => {
      const socket = await openSocket(service)
      socket.write(
        `POST /v1/${endpoint} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 1000000\r\n\r\n`,
      )
      const [head] = await once(socket, 'data')
      socket.destroy()
      expect(String(head)).to.match(/^HTTP\/1\.1 401 /)
    })
  }

  describe('a file of another client', () => {
    it('is not found by any of its paths', async () => {
      const mine = await uploadOne(service, { name: 'a.png', bytes: png }, { path: 'some/folder' })
      await exchange(service, `${mine.src}?w=10`)
      await eventually(async () => {
        const { status } = await exchange(service, rawPath(service, `${mine.s3Path}_w=10`))
        expect(status).to.equal(200)
      })
      const { s3PathOriginal: key, sourceName } = mine
      const names = [
        key,
        `${key}_w=10`,
        sourceName,
        `some/folder/${sourceName}`,
        `image/png/${sourceName}`,
        `../first/${key}`,
        `..%2ffirst%2f${key}`,
        `first/${key}`,
      ]
      for (const name of names) {
        for (const address of [
          `/v1/image/upload/${other.tokens.clientToken}/${name}`,
          `/v1/image/upload/${other.tokens.clientToken}/${name}?w=10`,
          `/v1/bucket/${other.tokens.clientToken}/${name}`,
        ]) {
          const { status } = await exchange(service, address)
          expect(status, address).to.be.oneOf([400, 404])
          if (!name.startsWith('..') && !address.includes('_w=10?')) expect(status, address).to.equal(404)
        }
        const removed = await exchange(service, `/v1/upload/${name}`, {
          method: 'DELETE',
          headers: { Authorization: other.tokens.secretClientToken },
        })
        expect(removed.status, `DELETE ${name}`).to.equal(name.startsWith('..') ? 400 : 404)
      }
      expect((await exchange(service, mine.src)).status).to.equal(200)
    })

    it('is an error in an archive', async () => {
      const mine = await uploadOne(service, { name: 'a.png', bytes: png })
      const files = [{ path: mine.s3PathOriginal }, { path: mine.sourceName }]
      const archive = Buffer.from(await (await postZip(other, { files })).arrayBuffer())
      expect(archive.includes(png)).to.equal(false)
      expect(archive.toString('latin1')).not.to.include(`${mine.sourceName}PK`)
      const counts = archive.readUInt16LE(archive.length - 12)
      expect(counts, 'only the manifest').to.equal(1)
    })
  })

  it('responds 404 to an unknown client token', async () => {
    const { sourceName, s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: png })
    for (const token of [
      'pub_unknown',
      service.tokens.secretClientToken,
      'first',
      '..',
      '__proto__',
      service.tokens.clientToken.toUpperCase(),
      `${service.tokens.clientToken}x`,
    ]) {
      for (const address of [
        `/v1/image/upload/${token}/${sourceName}`,
        `/v1/bucket/${token}/${s3PathOriginal}`,
      ]) {
        const answer = await exchange(service, address)
        expect({ status: answer.status, code: jsonOf(answer).code }, address).to.deep.equal({
          status: 404,
          code: 'client_not_found',
        })
      }
    }
  })

  it('keeps secrets out of every log line, and out of all stored data except credentials.json', async () => {
    const wrong = 'sec_ThisOneIsWrongButMayBeSomebodysPassword'
    const secrets = [service.tokens.secretClientToken, other.tokens.secretClientToken, wrong]
    for (const [i, secret] of secrets.entries()) {
      const caller = i === 1 ? other : service
      const uploaded = await postFiles(caller, [{ name: 'a.png', bytes: png }], { secret })
      const [record] = uploaded.ok ? ((await uploaded.json()) as [{ src: string; s3Path: string }]) : []
      await exchange(service, `${record?.src ?? '/v1/image/upload/x/y'}?w=10&token=${secret}`)
      await exchange(service, `${record?.src ?? '/v1/image/upload/x/y'}?w=10`, {
        headers: { Authorization: secret, Cookie: secret },
      })
      await (await postZip(caller, { files: [{ path: 'x.png' }] }, { secret })).arrayBuffer()
      await deleteFile(caller, record?.s3Path ?? 'image/png/x.png', { secret })
      await exchange(service, `/v1/upload?secret=${secret}`, { method: 'POST' })
    }
    const lines = service.log.lines.map((line) =>
      inspect(line, { depth: 20, breakLength: Number.POSITIVE_INFINITY }),
    )
    expect(lines.length).to.be.above(10)
    // Wherever this may be kept it is looked for: what is no secret is found in the record and in the index.
    await uploadOne(service, { name: 'found everywhere.png', bytes: png })
    expect(await backend.holding(service.dataDir, 'found everywhere')).to.have.length.at.least(2)
    for (const secret of secrets) {
      expect(lines.filter((line) => line.includes(secret))).to.deep.equal([])
      const holding = await backend.holding(service.dataDir, secret)
      // Which is there when the environment has not given the tokens.
      const kept = secret === service.tokens.secretClientToken ? ['credentials.json'] : []
      expect(holding.filter((name) => !kept.includes(name))).to.deep.equal([])
    }
  })

  it('keeps a secret that the operator has chosen out of the log, also in a path', async () => {
    const secret = 'correct-horse+battery=staple'
    const METRICS_TOKEN = 'metrics:token!of/our=own'
    const chosen = await start({
      env: { CLIENT_TOKEN: 'our-own-token', SECRET_CLIENT_TOKEN: secret, METRICS_TOKEN },
    })
    for (const spelling of [secret, encodeURIComponent(secret), secret.replace('c', '%63')]) {
      for (const address of [
        `/v1/image/upload/${spelling}/a.png`,
        `/v1/bucket/${spelling}/image/png/a.png`,
        `/v1/upload/${spelling}`,
        `/${spelling}`,
        `/v1/upload/Bearer%20${spelling}`,
        `/token=${spelling};`,
        `/v1/image/upload/our-own-token:${spelling}/a.png`,
        `/metrics/Bearer%20${METRICS_TOKEN}`,
      ])
        await exchange(chosen, address)
    }
    expect((await exchange(chosen, '/v1/image/upload/our-own-token/a.png')).status).to.equal(404)
    const lines = chosen.log.lines.map((line) => inspect(line, { depth: 20 })).join('\n')
    expect(lines).to.include('our-own-token')
    expect(lines).not.to.match(/battery|of\/our/)
    expect(await backend.holding(chosen.dataDir, secret)).to.deep.equal([])
  })
})
