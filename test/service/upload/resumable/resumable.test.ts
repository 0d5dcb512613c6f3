import { Readable } from 'node:stream'
import { expect } from 'chai'
import { resumablePiece } from '../../../../src/core/files/resumable-key.ts'
import { onTwoOrEveryBackend } from '../../../support/backends.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { begin, patch, recordIn, tus } from '../../../support/requests/tus.ts'
import type { Service } from '../../../support/service.ts'
import { usuallyOnce } from '../../../support/sized.ts'

onTwoOrEveryBackend('resumable uploads that are complete', (start, _, itOnce) => {
  const itUsuallyOnce = usuallyOnce(itOnce)
  let service: Service
  before(async () => {
    service = await start()
  })

  for (const [format, textBytes] of [
    ['bin', 5000],
    ['bin', 65_535],
    ['txt', 65_536],
  ] as const) {
    const itTried = format === 'txt' ? it : itUsuallyOnce
    itTried(`become ${format} when ${textBytes} bytes of text precede others`, async () => {
      const bytes = Buffer.concat([Buffer.alloc(textBytes, 'text '), Buffer.alloc(100_000)])
      const address = await begin(service, bytes.length, { values: { filename: 'a.txt' } })
      const { src, s3PathOriginal } = recordIn(await patch(service, address, { offset: 0, body: bytes }))
      expect(s3PathOriginal).to.include(`/${format}/`)
      expect((await exchange(service, src)).body).to.deep.equal(bytes)
    })
  }

  it('become the same, however their pieces are split', async () => {
    const bytes = Buffer.concat([Buffer.alloc(5000, 'text '), Buffer.alloc(5000)])
    const address = await begin(service, bytes.length, { values: { filename: 'a.txt' } })
    const bucket = service.storage.buckets.of({ id: 'first', token: '' })
    for (const [start, end] of [
      [0, 5000],
      [5000, 10_000],
    ] as const) {
      const { key } = resumablePiece({ clientId: 'first', id: address.slice(-22) }, { start, end })
      await bucket.put(key, Readable.from([bytes.subarray(start, end)]), { mediaType: 'a/b' })
    }
    const answer = await tus(service, address)
    expect(answer.status, String(answer.body)).to.equal(200)
    expect(String(answer.body)).to.include('/bin/')
  })
})
