import { expect } from 'chai'
import { createPartCount } from '../../../../src/http/upload/part-count.ts'
import { MULTIPART, multipart } from '../../../support/requests/multipart.ts'

describe('the number of parts of a form', () => {
  const part = { disposition: 'name="file"; filename="a"', bytes: '\r\n--the-bound\r\n\r\n--' }

  it('is counted correctly wherever its chunks end', () => {
    const body = Buffer.concat([
      Buffer.from('before\r\n'),
      multipart([part, part, part]),
      Buffer.from('behind\r\n'),
      multipart([part]),
    ])
    for (let size = 1; size <= body.length; size += 1) {
      const count = createPartCount(MULTIPART)
      for (let at = 0; at < body.length; at += size) count?.push(body.subarray(at, at + size))
      expect(count?.begun(), `chunks of ${size}`).to.equal(3)
    }
  })

  for (const [type, parts] of [
    ['multipart/form-data; boundary=x', 1],
    ['multipart/form-data;charset="a;b" ; Boundary="x"; boundary=y', 1],
    ['multipart/form-data; boundary="x y"', 0],
    ['multipart/form-data', undefined],
    [undefined, undefined],
  ] as const) {
    it(`is counted by the boundary: ${type}`, () => {
      const count = createPartCount(type)
      count?.push(Buffer.from('--x\r\n\r\n\r\n--x--'))
      expect(count?.begun()).to.equal(parts)
    })
  }
})
