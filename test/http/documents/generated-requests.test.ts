import { expect } from 'chai'
import type { OpenApiDocument } from '../../../src/http/documents/openapi/document.ts'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { METRICS_TOKEN } from '../../support/openapi/examples.ts'
import { type Existing, requestGenerator } from '../../support/openapi/generated.ts'
import { ask } from '../../support/requests/ask.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'

const PASSWORD = 'of the operator alone'
const REQUESTS = sized(120, 1000)
// A request may change or delete the client whose secret the next ones have.
const REQUESTS_OF_A_CLIENT = 25
// Lines of requests, one after the other, at the same time.
const LINES = 4

onOneBackend('requests that are generated from the API document', (start) => {
  let service: Service
  let document: OpenApiDocument
  let admin: string
  before(async () => {
    service = await start({
      env: {
        ADMIN_PASSWORD: PASSWORD,
        METRICS_TOKEN,
        FOREIGN_PREFIXES: 'legacy',
        ...Object.fromEntries(
          ['UPLOAD', 'ZIP', 'FETCH', 'MEDIA', 'WEBHOOK'].flatMap((name) => [
            [`${name}_RATE_LIMIT`, '0'],
            [`${name}_RATE_LIMIT_PER_IP`, '0'],
          ]),
        ),
      },
    })
    document = jsonOf(await exchange(service, '/v1/openapi.json')) as unknown as OpenApiDocument
    const { body } = await ask(service, '/v1/sign-in', { method: 'POST', json: { password: PASSWORD } })
    admin = (body as { token: string }).token
  })

  /** A client with a photo. */
  async function newShop(): Promise<Existing> {
    const headers = { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' }
    const created = await exchange(service, '/v1/clients', {
      method: 'POST',
      headers,
      body: '{"name": "Shop"}',
    })
    const tokens = jsonOf(created) as unknown as {
      id: string
      clientToken: string
      secretClientToken: string
    }
    const bytes = await picture({ width: 60, height: 40, format: 'jpeg' })
    const { s3PathOriginal: path } = await uploadOne({ url: service.url, tokens }, { name: 'a.jpg', bytes })
    return { id: tokens.id, token: tokens.clientToken, secret: tokens.secretClientToken, path, admin }
  }

  for (const seed of sized([7], [1, 7, 42]))
    it(`get the responses of the document, and never a failure, with the seed ${seed}`, async function () {
      this.timeout(300_000)
      const failures: string[] = []
      let successes = 0
      const send = async (line: number) => {
        const generate = requestGenerator(document, seed * LINES + line)
        let shop = await newShop()
        for (let sent = 1; sent <= REQUESTS / LINES; sent += 1) {
          if (sent % REQUESTS_OF_A_CLIENT === 0) shop = await newShop()
          const { target, ...request } = generate(shop)
          const { status, body } = await exchange(service, target, request)
          if (status < 300) successes += 1
          // 501: an option that this service does not offer.
          if (status >= 500 && status !== 501)
            failures.push(`${request.method} ${target} ${status} ${body.toString().slice(0, 300)}`)
        }
      }
      await Promise.all(Array.from({ length: LINES }, (_, line) => send(line)))
      expect(failures).to.deep.equal([])
      // Responses that the document does not allow fail the end of the suite.
      expect(successes).to.be.above(REQUESTS / 5)
    })
})
