import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { createClient, verifyWebhook } from '../../../client/index.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { receiver } from '../../support/requests/receiver.ts'

const key = Buffer.alloc(32, 7)
const secret = `whsec_${key.toString('base64')}`
const body = '{"type":"original.stored","timestamp":"2026-01-01T00:00:00.000Z","data":{"key":"a.png"}}'
const AT = 1_767_225_600
const now = () => 1000 * AT

function headers({ at = AT, text = body, id = 'evt_1' } = {}) {
  const signature = createHmac('sha256', key).update(`${id}.${at}.${text}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,AAAA v2,x v1,${signature}`,
  }
}

describe('verifyWebhook', () => {
  it('returns the event of a Request, of text and of bytes', async () => {
    const event = { id: 'evt_1', ...JSON.parse(body) }
    const request = new Request('http://127.0.0.1/hooks', { method: 'POST', body, headers: headers() })
    expect(await verifyWebhook(request, secret, { now })).to.deep.equal(event)
    expect(await verifyWebhook({ headers: headers(), body }, secret, { now })).to.deep.equal(event)
    const bytes = { headers: new Headers(headers()), body: Buffer.from(body) }
    expect(await verifyWebhook(bytes, secret, { now })).to.deep.equal(event)
  })

  it('accepts one of several secrets', async () => {
    const both = `whsec_${Buffer.alloc(32, 1).toString('base64')} ${secret}`
    expect(await verifyWebhook({ headers: headers(), body }, both, { now })).to.include({ id: 'evt_1' })
  })

  const wrong: [title: string, headers: Record<string, string>, body: string][] = [
    ['a changed body', headers(), `${body} `],
    ['another id', { ...headers(), 'webhook-id': 'evt_2' }, body],
    ['an old time', headers({ at: AT - 301 }), body],
    ['a time in the future', headers({ at: AT + 301 }), body],
    ['a time that is no number', { ...headers(), 'webhook-timestamp': 'now' }, body],
    ['a signature that is not base64', { ...headers(), 'webhook-signature': 'v1,***' }, body],
    ['no headers', {}, body],
  ]
  for (const [title, given, text] of wrong)
    it(`refuses ${title}`, async () => {
      const error = await rejection(verifyWebhook({ headers: given, body: text }, secret, { now }))
      expect(error).to.include({ name: 'SluiceError', code: 'webhook_invalid', status: 401 })
    })

  it('refuses a parsed body and a secret that is none, which are faults of the program', async () => {
    const parsed = { headers: headers(), body: JSON.parse(body) }
    expect(await rejection(verifyWebhook(parsed, secret, { now }))).to.be.instanceOf(TypeError)
    expect(await rejection(verifyWebhook({ headers: headers(), body }, '', { now }))).to.be.instanceOf(
      TypeError,
    )
  })
})

onOneBackend('verifyWebhook', (start) => {
  it('accepts what the service sends', async () => {
    const hooks = await receiver()
    try {
      const { url, tokens } = await start({
        env: {
          WEBHOOK_SECRET: secret,
          WEBHOOK_URL: hooks.url('/hooks'),
          WEBHOOK_ALLOW_ADDRESSES: '127.0.0.0/8',
        },
      })
      const { files } = createClient({ baseUrl: url, secret: tokens.secretClientToken })
      const { s3PathOriginal } = await files.upload(new Blob(['hook']))
      // The service announces its first client before.
      const stored = () => hooks.received.find(({ body }) => body.includes('original.stored'))
      await eventually(() => expect(stored()).not.to.equal(undefined))
      const event = await verifyWebhook(stored() as NonNullable<ReturnType<typeof stored>>, secret)
      expect(event.type).to.equal('original.stored')
      expect(event.data.key).to.equal(s3PathOriginal)
    } finally {
      await hooks.close()
    }
  })
})
