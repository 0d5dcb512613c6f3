import { expect } from 'chai'
import { onEveryBackend } from '../support/backends.ts'
import { exchange } from '../support/exchange.ts'
import type { Service } from '../support/service.ts'
import { begin, patch, recordIn } from '../support/tus.ts'

onEveryBackend('resumable uploads that are complete', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  it('become what their first bytes say, whatever follows', async () => {
    const bytes = Buffer.concat([Buffer.alloc(5000, 'text '), Buffer.alloc(5000)])
    const address = await begin(service, bytes.length, { values: { filename: 'a.txt' } })
    const { src, s3PathOriginal } = recordIn(await patch(service, address, { offset: 0, body: bytes }))
    expect(s3PathOriginal).to.match(/^text\/txt\//)
    expect((await exchange(service, src)).body).to.deep.equal(bytes)
  })
})
