import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { ADMIN_PASSWORD, postSignIn } from '../../support/requests/admin.ts'
import { ask } from '../../support/requests/ask.ts'
import { type Caller, newClient } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'

const SENDS = ['test', 'deliveries/evt_1-a/replay', 'replay']

onOneBackend('the rate limit of webhooks', (start) => {
  const post = async (as: Caller, path: string, secret = as.tokens.secretClientToken) => {
    const { status, headers, body } = await exchange(as, `/v1/webhooks/${path}`, {
      method: 'POST',
      headers: { Authorization: secret, 'Content-Type': 'application/json' },
      body: JSON.stringify({ since: '2020-01-01T00:00:00Z' }),
    })
    const { code, limit } = jsonOf({ body })
    return { status, headers, problem: [code, limit] }
  }

  it('counts tests and replays of a client together, and those of the operator separately', async () => {
    const service = await start({ env: { ADMIN_PASSWORD, WEBHOOK_RATE_LIMIT: '3' } })
    const other = await newClient(service)
    const { token } = (await (await postSignIn(service, { password: ADMIN_PASSWORD })).json()) as {
      token: string
    }
    for (const secret of [service.tokens.secretClientToken, `Bearer ${token}`]) {
      for (const path of SENDS) expect((await post(service, path, secret)).status, path).to.not.equal(429)
      for (const path of SENDS) {
        const refused = await post(service, path, secret)
        expect([refused.status, ...refused.problem], path).to.deep.equal([429, 'rate_limited', 'webhook'])
        expect(Number(refused.headers['retry-after'])).to.be.within(1, 60)
      }
    }
    expect((await post(other, 'replay')).status).to.equal(202)
  })

  it('does not count lists, and requests with an invalid secret', async () => {
    const service = await start({ env: { WEBHOOK_RATE_LIMIT: '1' } })
    for (let i = 0; i < 3; i += 1) {
      expect((await ask(service, '/v1/webhooks/deliveries')).status).to.equal(200)
      expect((await post(service, 'replay', service.tokens.clientToken)).status).to.equal(401)
    }
    expect((await post(service, 'replay')).status).to.equal(202)
  })

  it('is off when set to 0', async () => {
    const service = await start({ env: { WEBHOOK_RATE_LIMIT: '0' } })
    for (let i = 0; i < 61; i += 1) expect((await post(service, 'replay')).status).to.equal(202)
  })
})
