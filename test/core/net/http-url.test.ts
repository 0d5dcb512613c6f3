import { expect } from 'chai'
import { isEndpoint, plainHttpUrl } from '../../../src/core/net/http-url.ts'

describe('an http URL', () => {
  const plain = ['https://a.example', 'http://10.0.0.1:8080/x,y', 'HTTPS://[::1]/', 'https:a.example']
  const detailed = ['https://a.example?z', 'https://a.example/x#0']
  const wrong = [
    ...['a.example', '/hook', 'ftp://a.example', 'file:///hook', 'https://', 'https://a.example:70000'],
    ...['https://user@a.example', 'https://:word@a.example', 'javascript:0'],
  ]
  for (const [texts, expected] of [
    [plain, { isEndpoint: true, isPlain: true }],
    [detailed, { isEndpoint: true, isPlain: false }],
    [wrong, { isEndpoint: false, isPlain: false }],
  ] as const)
    for (const text of texts)
      it(`${JSON.stringify(expected)}: ${text}`, () => {
        const isPlain = plainHttpUrl(text) !== undefined
        expect({ isEndpoint: isEndpoint(text), isPlain }).to.deep.equal(expected)
      })
})
