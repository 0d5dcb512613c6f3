import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { browser, firstOwner } from '../../support/console/browser.ts'
import { ADMIN_PASSWORD } from '../../support/requests/admin.ts'
import type { Service } from '../../support/service.ts'

const OFFICE = '203.0.113.7'
const BACKEND = '2001:db8::7'
const HOME = '198.51.100.1'

onOneBackend('CONSOLE_ALLOW and SECRETS_ALLOW', (start) => {
  let service: Service
  let src: string
  before(async () => {
    service = await start({
      env: {
        CONSOLE_ALLOW: '203.0.113.0/24',
        SECRETS_ALLOW: '2001:db8::/48, 192.0.2.0/24',
        TRUST_PROXY: '1',
        ADMIN_PASSWORD,
      },
    })
  })

  const own = () => ({ Authorization: service.tokens.secretClientToken })
  /** The status, or the code of a refusal by this list. */
  async function from(address: string, method: string, path: string, headers: Record<string, string> = {}) {
    const url = path.startsWith('http') ? path : `${service.url}${path}`
    const body = method === 'PUT' ? { body: 'text' } : {}
    const response = await fetch(url, {
      method,
      headers: { 'X-Forwarded-For': address, 'Content-Type': 'text/plain', ...headers },
      redirect: 'manual',
      ...body,
    })
    const text = await response.text()
    return text.includes('address_not_allowed') ? 'address_not_allowed' : response.status
  }

  it('accept secrets only from their ranges, IPv4 or IPv6, and deliver to all', async () => {
    for (const address of [
      BACKEND,
      '2001:db8:0:ffff::1',
      '192.0.2.255',
      '::ffff:192.0.2.1',
      '192.0.2.1:80',
      '[2001:db8::1]:80',
    ])
      expect(await from(address, 'GET', '/v1/files', own()), address).to.equal(200)
    for (const address of [
      OFFICE,
      HOME,
      '2001:db8:1::1',
      '::ffff:198.51.100.1',
      '198.51.100.1:80',
      'unknown',
      '',
    ])
      expect(await from(address, 'GET', '/v1/files', own()), address).to.equal('address_not_allowed')
    const put = await fetch(`${service.url}/v1/upload/a.txt`, {
      method: 'PUT',
      headers: { ...own(), 'X-Forwarded-For': BACKEND, 'Content-Type': 'text/plain' },
      body: 'text',
    })
    src = ((await put.json()) as [{ src: string }])[0].src
    expect(await from(HOME, 'GET', src)).to.equal(200)
    for (const path of ['/v1/upload/b.txt', '/v1/none', '/v1/clients'])
      expect(await from(HOME, 'PUT', path, own()), path).to.equal('address_not_allowed')
    // Without a secret there is nothing to protect: the request is refused for that.
    expect(await from(HOME, 'GET', '/v1/files')).to.equal(401)
    expect(await from(HOME, 'GET', '/healthz')).to.equal(200)
  })

  it('accept the console only from its ranges: its pages, sign-in and sessions', async () => {
    const pages = ['/dashboard', '/dashboard/', '/dashboard/members', '/dashboard/assets/a.js']
    const sessions = ['/v1/session', '/v1/session/link', '/v1/session/oidc', '/v1/sign-in', '/V1/Session/']
    for (const path of [...pages, ...sessions]) {
      expect(await from(HOME, 'GET', path), path).to.equal('address_not_allowed')
      expect(await from(HOME, 'POST', path), path).to.equal('address_not_allowed')
      expect(await from(OFFICE, 'GET', path), path).to.not.equal('address_not_allowed')
    }
    const owner = browser(service)
    const office = { 'X-Forwarded-For': OFFICE }
    const signedIn = await owner.send('POST', '/v1/session', { password: ADMIN_PASSWORD }, office)
    expect(signedIn.status).to.equal(200)
    for (const path of ['/v1/files', '/v1/clients', '/v1/members', '/v1/audit']) {
      const client = { 'Sluice-Client': 'first' }
      const there = await owner.send('GET', path, undefined, { ...client, ...office })
      expect(there.status, path).to.equal(200)
      const outside = await owner.send('GET', path, undefined, { ...client, 'X-Forwarded-For': HOME })
      expect([outside.status, outside.json.code], path).to.deep.equal([403, 'address_not_allowed'])
    }
    expect(await from(HOME, 'GET', '/')).to.equal(200)
  })

  it('use the address of the connection without TRUST_PROXY', async () => {
    const other = await start({ env: { CONSOLE_ALLOW: '203.0.113.0/24', SECRETS_ALLOW: '127.0.0.0/8' } })
    const forged = { 'X-Forwarded-For': OFFICE }
    expect((await browser(other).send('GET', '/v1/session', undefined, forged)).json.code).to.equal(
      'address_not_allowed',
    )
    const headers = { Authorization: other.tokens.secretClientToken }
    expect((await fetch(`${other.url}/v1/files`, { headers })).status).to.equal(200)
    // Behind a proxy whose own address is in the range, all callers would be allowed.
    const proxied = await fetch(`${other.url}/v1/files`, { headers: { ...headers, ...forged } })
    expect([proxied.status, ((await proxied.json()) as { detail: string }).detail]).to.deep.equal([
      403,
      'Your IP address is not known: the request has X-Forwarded-For, and TRUST_PROXY is not set.',
    ])
    // A link of the first visit is no way around it.
    expect((await firstOwner(other)).cookie).to.equal('')
  })
})
