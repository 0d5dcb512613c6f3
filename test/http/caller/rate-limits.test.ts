import { expect } from 'chai'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { newClient, postFiles, postZip, uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'

onOneOrTwoBackends('rate limits', (start, _, itOnce) => {
  const text = { name: 'a.txt', bytes: 'text' }

  it('count uploads by client, report the remaining points, and refuse before anything is stored', async () => {
    const service = await start({ env: { UPLOAD_RATE_LIMIT: '2', UPLOAD_RATE_WINDOW_SECONDS: '60' } })
    const other = await newClient(service)
    for (const left of [1, 0]) {
      const { status, headers } = await postFiles(service, [text])
      expect(status).to.equal(200)
      expect(headers.get('ratelimit-policy')).to.equal('"upload";q=2;w=60')
      expect(headers.get('ratelimit')).to.match(new RegExp(`^"upload";r=${left};t=\\d+$`))
    }
    const before = await service.objects()
    const refused = await postFiles(service, [text])
    expect(refused.status).to.equal(429)
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60)
    expect(await refused.json()).to.include({ code: 'rate_limited', limit: 'upload' })
    expect(await service.objects()).to.deep.equal(before)
    expect((await postFiles(other, [text])).status).to.equal(200)
  })

  itOnce('count no uploads for a client whose signed link is already used', async () => {
    const service = await start({ env: { UPLOAD_RATE_LIMIT: '2' } })
    const signed = await exchange(service, '/v1/sign', {
      method: 'POST',
      body: JSON.stringify({ expiresIn: 600 }),
      headers: { 'Content-Type': 'application/json', Authorization: service.tokens.secretClientToken },
    })
    const target = String(jsonOf(signed).url).slice(service.url.length)
    const put = { method: 'PUT', body: 'text' }
    expect((await exchange(service, target, put)).status).to.equal(200)
    const begin = { method: 'POST', headers: { 'Tus-Resumable': '1.0.0', 'Upload-Length': '4' } }
    for (const again of [put, begin, put, begin]) {
      const answer = await exchange(service, target, again)
      expect([answer.status, jsonOf(answer).code]).to.deep.equal([409, 'link_used'])
      expect(answer.headers).not.to.have.property('ratelimit')
    }
    expect((await postFiles(service, [text])).status).to.equal(200)
    expect((await postFiles(service, [text])).status).to.equal(429)
  })

  it('count new derivatives by client and by address, but no stored ones', async () => {
    const service = await start({
      env: { DERIVATIVE_RATE_LIMIT: '3', DERIVATIVE_RATE_LIMIT_PER_IP: '2', TRUST_PROXY: '1' },
    })
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const from = (address: string, width: number) =>
      exchange(service, `${src}?w=${width}`, { headers: { 'X-Forwarded-For': address } })
    for (const width of [10, 11]) expect((await from('192.0.2.1', width)).status).to.equal(200)
    const first = await from('192.0.2.1', 12)
    expect(first.status).to.equal(429)
    expect(jsonOf(first)).to.include({ code: 'rate_limited', limit: 'derivative_address' })
    expect(first.headers['ratelimit-policy']).to.equal('"derivative_address";q=2;w=60')
    for (const width of [10, 11]) expect((await from('192.0.2.1', width)).status).to.equal(200)

    const another = await from('192.0.2.2', 12)
    expect(another.status).to.equal(200)
    // Others get it from a cache.
    expect(another.headers).to.not.have.any.keys('ratelimit', 'ratelimit-policy')
    const second = await from('192.0.2.3', 13)
    expect(second.status).to.equal(429)
    expect(jsonOf(second)).to.include({ limit: 'derivative' })
    expect(second.headers['ratelimit-policy']).to.equal(
      '"derivative";q=3;w=60, "derivative_address";q=2;w=60',
    )
  })

  itOnce('count only the first request for info', async () => {
    const service = await start({ env: { DERIVATIVE_RATE_LIMIT_PER_IP: '1' } })
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const info = src.replace('/upload/', '/info/')
    for (let i = 0; i < 2; i += 1) expect((await exchange(service, info)).status).to.equal(200)
    expect((await exchange(service, `${src}?w=10`)).status).to.equal(429)
  })

  itOnce('ignore a forged X-Forwarded-For', async () => {
    const service = await start({ env: { DERIVATIVE_RATE_LIMIT_PER_IP: '1' } })
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const forged = (i: number) => ({ 'X-Forwarded-For': `192.0.2.${i}`, Forwarded: `for=192.0.2.${i}` })
    expect((await exchange(service, `${src}?w=10`, { headers: forged(1) })).status).to.equal(200)
    for (const i of [2, 3])
      expect((await exchange(service, `${src}?w=1${i}`, { headers: forged(i) })).status).to.equal(429)
    // The operator may have forgotten a proxy.
    const told = service.log.lines.filter(({ message }) => message.includes('TRUST_PROXY'))
    expect(told.map(({ level }) => level)).to.deep.equal(['warn'])
  })

  itOnce('use the address that the last of TRUST_PROXY proxies reports', async () => {
    const service = await start({ env: { DERIVATIVE_RATE_LIMIT_PER_IP: '1', TRUST_PROXY: '1' } })
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const status = async (width: number, chain: string) =>
      (await exchange(service, `${src}?w=${width}`, { headers: { 'X-Forwarded-For': chain } })).status
    expect(await status(10, '198.51.100.1, 192.0.2.1')).to.equal(200)
    expect(await status(11, '198.51.100.2, 192.0.2.1')).to.equal(429)
    expect(await status(12, '2001:db8::1')).to.equal(200)
    expect(await status(13, '2001:db8::ffff:1')).to.equal(429)
    expect(await status(14, '2001:db8:0:1::1')).to.equal(200)
  })

  itOnce('are off when set to 0', async () => {
    const service = await start({ env: { ZIP_RATE_LIMIT: '0' } })
    const { sourceName } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    for (let i = 0; i < 12; i += 1) {
      const response = await postZip(service, { files: [{ path: sourceName }] })
      expect(response.status).to.equal(200)
      expect(response.headers.get('ratelimit')).to.equal(null)
      await response.arrayBuffer()
    }
  })
})
