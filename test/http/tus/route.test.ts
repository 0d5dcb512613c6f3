import { expect } from 'chai'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { startService } from '../../support/service.ts'

describe('the route of a resumable upload', () => {
  const start = stoppedAtTheEnd(startService)

  it('has one label in the log, with and without a slash at the end of the path', async () => {
    const service = await start()
    for (const path of ['/v1/tus', '/v1/tus/']) await exchange(service, path, { method: 'POST' })
    await eventually(async () => {
      const routes = service.log.lines.filter(({ message }) => message === 'request')
      expect(routes.map(({ fields }) => fields.route)).to.deep.equal(['/v1/tus', '/v1/tus'])
    })
  })
})
