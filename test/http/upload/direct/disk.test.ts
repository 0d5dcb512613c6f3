import { expect } from 'chai'
import { EMBEDDED } from '../../../support/backend.ts'
import { stoppedAtTheEnd } from '../../../support/backends.ts'
import { ask } from '../../../support/requests/ask.ts'
import { jsonOf } from '../../../support/requests/exchange.ts'
import { begin, tus } from '../../../support/requests/tus.ts'
import { startService } from '../../../support/service.ts'
import { askDirect } from '../../../support/stored/direct-uploads.ts'

describe('direct uploads on a disk', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: EMBEDDED, ...options }))

  it('are refused with the names of the other ways, and leave no upload', async () => {
    const service = await start({ env: { ADMIN_PASSWORD: 'of the operator' } })
    const answer = await askDirect(service, { name: 'a.png', size: 10 })
    const { code, detail } = jsonOf(answer)
    expect([answer.status, code]).to.deep.equal([403, 'direct_uploads_off'])
    for (const other of ['PUT /v1/upload/<name>', 'POST /v1/upload', 'POST /v1/tus'])
      expect(detail).to.include(other)
    expect((await service.objects()).filter((key) => key.includes('/tus/'))).to.deep.equal([])
  })

  it('do not complete or abort uploads of tus', async () => {
    const service = await start()
    const address = await begin(service, 10)
    const path = `/v1/upload/direct/${address.slice(-22)}`
    expect((await ask(service, `${path}/complete`, { method: 'POST' })).status).to.equal(404)
    expect((await ask(service, path, { method: 'DELETE' })).status).to.equal(404)
    expect((await ask(service, path)).status).to.equal(404)
    expect((await tus(service, address, { method: 'HEAD' })).status).to.equal(200)
  })
})
