import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { ADMIN_PASSWORD, askAs, postSignIn, signedIn } from '../../support/requests/admin.ts'
import { postFiles } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'

onOneBackend('POST /v1/sign-in', (start) => {
  it('exchanges the password for a token, which grants access to /v1/clients only', async () => {
    const service = await start({ env: { ADMIN_PASSWORD } })
    const before = Date.now()
    const response = await postSignIn(service, { password: ADMIN_PASSWORD })
    expect(response.status).to.equal(200)
    expect(response.headers.get('cache-control')).to.equal('no-store')
    expect(response.headers.get('access-control-allow-origin')).to.equal(null)
    const { token, expiresAt } = (await response.json()) as { token: string; expiresAt: string }
    expect(Date.parse(expiresAt) - before).to.be.within(12 * 3_600_000, 12 * 3_600_000 + 60_000)
    expect((await askAs(service, `Bearer ${token}`)('GET', '')).status).to.equal(200)
    const upload = await postFiles(service, [{ name: 'a.txt', bytes: 'text' }], { secret: token })
    expect(upload.status).to.equal(401)
  })

  it('keeps token and password out of the log, wherever they are in a path', async () => {
    const service = await start({ env: { ADMIN_PASSWORD } })
    const { token } = (await (await postSignIn(service, { password: ADMIN_PASSWORD })).json()) as {
      token: string
    }
    for (const word of [token, encodeURIComponent(ADMIN_PASSWORD), `Bearer%20${token}`])
      await exchange(service, `/v1/clients/${word}`)
    const paths = service.log.lines.map(({ fields }) => String(fields.path)).join()
    expect(paths).to.include('/v1/clients/…')
    for (const part of ['correct', 'battery', token.slice(0, 12)]) expect(paths).to.not.include(part)
    await service.stop()
  })

  it('refuses a wrong password, and counts every attempt', async () => {
    const service = await start({
      env: { ADMIN_PASSWORD, SIGN_IN_RATE_LIMIT_PER_IP: '4', SIGN_IN_RATE_LIMIT: '6', TRUST_PROXY: '1' },
    })
    const from = (address: string, body: unknown) => postSignIn(service, body, { 'X-Forwarded-For': address })
    for (const [body, status, code] of [
      [{ password: `${ADMIN_PASSWORD}!` }, 401, 'wrong_password'],
      [{ password: 123456789012 }, 400, 'bad_parameter'],
      ['{"password":', 400, 'bad_json'],
    ] as const) {
      const response = await from('192.0.2.1', body)
      expect(response.status).to.equal(status)
      const text = await response.text()
      expect(JSON.parse(text)).to.include({ code })
      expect(text).to.not.include('123456789012')
      if (status === 401)
        expect(response.headers.get('www-authenticate')).to.equal('Bearer realm="sluice admin"')
    }
    expect((await from('192.0.2.1', { password: ADMIN_PASSWORD })).status).to.equal(200)
    const right = await from('192.0.2.1', { password: ADMIN_PASSWORD })
    expect(right.status).to.equal(429)
    expect(Number(right.headers.get('retry-after'))).to.be.within(1, 300)
    expect(await right.json()).to.include({ limit: 'sign_in_address' })
    for (const n of [2, 3])
      expect((await from(`192.0.2.${n}`, { password: ADMIN_PASSWORD })).status).to.equal(200)
    const all = await from('192.0.2.4', { password: ADMIN_PASSWORD })
    expect(all.status).to.equal(429)
    expect(await all.json()).to.include({ limit: 'sign_in' })
  })

  it('counts no request that a page of another site can send', async () => {
    const service = await start({ env: { ADMIN_PASSWORD, SIGN_IN_RATE_LIMIT_PER_IP: '1' } })
    const body = { password: ADMIN_PASSWORD }
    for (const [headers, status, code] of [
      [{ 'Content-Type': 'text/plain' }, 415, 'unsupported_media_type'],
      [{ 'Content-Type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
      [{ 'Content-Encoding': 'gzip' }, 415, 'unsupported_media_type'],
      [{ 'Sec-Fetch-Site': 'cross-site' }, 403, 'cross_site'],
    ] as const) {
      const response = await postSignIn(service, body, headers)
      expect(response.status).to.equal(status)
      expect(response.headers.get('ratelimit')).to.equal(null)
      expect(await response.json()).to.include({ code })
    }
    expect((await postSignIn(service, body, { 'Sec-Fetch-Site': 'same-origin' })).status).to.equal(200)
    expect((await postSignIn(service, body)).status).to.equal(429)
  })

  it('limits an address that has signed in before separately from all others', async () => {
    const env = { ADMIN_PASSWORD, SIGN_IN_RATE_LIMIT: '2', TRUST_PROXY: '1' }
    const service = await start({ env })
    const from = async (address: string, password = ADMIN_PASSWORD) =>
      (await postSignIn(service, { password }, { 'X-Forwarded-For': address })).status
    expect(await from('192.0.2.1')).to.equal(200)
    expect(await from('192.0.2.2', 'a wrong password')).to.equal(401)
    expect(await from('192.0.2.2', 'a wrong password')).to.equal(429)
    expect(await from('192.0.2.1')).to.equal(200)
    const { dataDir } = service
    await service.stop({ keepData: true })
    const again = await start({ env: { ...env, SIGN_IN_RATE_LIMIT: '1' }, dataDir })
    const fromKnown = () =>
      postSignIn(again, { password: ADMIN_PASSWORD }, { 'X-Forwarded-For': '192.0.2.1' })
    // Redis has also counted the two attempts before the restart.
    for (let tries = 0; tries < 8; tries += 1) expect((await fromKnown()).status).to.equal(200)
    await fromKnown()
    await fromKnown()
    expect(await (await fromKnown()).json()).to.include({ limit: 'sign_in_address' })
  })

  it('is disabled when no password is set', async () => {
    const service = await start()
    const response = await postSignIn(service, { password: ADMIN_PASSWORD })
    expect(response.status).to.equal(403)
    expect(await response.json()).to.include({ code: 'sign_in_off' })
    expect((await askAs(service, undefined)('GET', '')).status).to.equal(403)
  })

  it('stops accepting tokens when the password changes', async () => {
    const service = await start({ env: { ADMIN_PASSWORD } })
    const { token } = (await (await postSignIn(service, { password: ADMIN_PASSWORD })).json()) as {
      token: string
    }
    const { dataDir } = service
    await service.stop({ keepData: true })
    const same = await start({ env: { ADMIN_PASSWORD }, dataDir })
    expect((await askAs(same, `Bearer ${token}`)('GET', '')).status).to.equal(200)
    await same.stop({ keepData: true })
    const changed = await start({ env: { ADMIN_PASSWORD: 'another password' }, dataDir })
    const refused = await askAs(changed, `Bearer ${token}`)('GET', '')
    expect(refused.status).to.equal(401)
    expect(refused.headers.get('www-authenticate')).to.equal('Bearer realm="sluice admin"')
    expect((await (await signedIn(changed, 'another password'))('GET', '')).status).to.equal(200)
  })
})
