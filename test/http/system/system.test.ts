import { expect } from 'chai'
import { createClient } from '../../../client/index.ts'
import { onTwoBackends } from '../../support/backends.ts'
import { rejection } from '../../support/rejection.ts'
import { ADMIN_PASSWORD } from '../../support/requests/admin.ts'
import { exchange } from '../../support/requests/exchange.ts'

const SECRETS = {
  ADMIN_PASSWORD,
  APP_SECRET: 'the-secret-of-the-application-alone',
  METRICS_TOKEN: 'of-the-metrics-alone',
  WEBHOOK_URL: 'https://receiver.example/with-a-secret-path',
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  COMPAT_IMGPROXY_KEY: 'abababababababab',
  COMPAT_IMGPROXY_SALT: 'cdcdcdcdcdcdcdcd',
}

onTwoBackends('GET /v1/system', (start, backend, itOnce) => {
  it('returns version, checks, storage, plugins and settings, and no secret', async () => {
    const env = { ...SECRETS, TRUST_PROXY: '10.0.0.0/8', UPLOAD_MAX_FILES: '7' }
    const service = await start({ env })
    const client = createClient({ baseUrl: service.url })
    await client.clients.signIn(ADMIN_PASSWORD)
    const report = await client.system()
    const isEmbedded = backend.name.includes('embedded')
    expect(report.storage).to.deep.equal(
      isEmbedded
        ? { files: 'disk', state: 'embedded', directUploads: false }
        : { files: 's3', state: 'redis', directUploads: true },
    )
    expect(report).to.include({ status: 'ok', nodeVersion: process.versions.node })
    expect(report.uptimeSeconds).to.be.within(0, performance.now() / 1000)
    expect(report.checks).to.include({ bucket: 'ok', index: 'ok' })
    expect(report.plugins).to.deep.include({ name: 'image-resize', kind: 'transform', types: ['image'] })
    expect(report.plugins.map(({ kind }) => kind)).to.include('event')
    const values = new Map(report.settings.map(({ name, value }) => [name, value]))
    expect(values.get('UPLOAD_MAX_FILES')).to.equal(7)
    expect(values.get('TRUST_PROXY')).to.deep.equal(['10.0.0.0/8'])
    const text = JSON.stringify(report)
    expect(text).to.not.include('[object')
    for (const [name, value] of Object.entries(SECRETS)) {
      expect(values.has(name), name).to.equal(false)
      expect(text.includes(value), name).to.equal(false)
    }
    expect(text).to.not.include(service.tokens.secretClientToken)
  })

  itOnce('requires a session of the operator', async () => {
    const { url, tokens } = await start({ env: { ADMIN_PASSWORD } })
    expect((await exchange({ url }, '/v1/system')).status).to.equal(401)
    const withSecret = createClient({ baseUrl: url, adminToken: tokens.secretClientToken })
    expect(await rejection(withSecret.system())).to.include({ status: 401, code: 'not_signed_in' })
  })
})
