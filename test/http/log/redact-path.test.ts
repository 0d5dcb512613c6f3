import { expect } from 'chai'
import { redactPath, withoutRemotePath } from '../../../src/http/log/redact-path.ts'
import { sized } from '../../support/sized.ts'

const GENERATED = 'sec_7uLjvUQ9eGxAoGkRZ5yZ9fN2mP4sT6wX8yB1cD3eF5gH'
const CLEAR = 'correct-horse+battery/staple'
const HASHED = 'by-its-digest_only'

const masked = (path: string) =>
  redactPath(path, {
    secrets: [CLEAR],
    isSecret: (word) => word === HASHED || word === 'odd+one+by+its+digest',
  })

const BYTES = sized(131_072, 1_048_576)

describe('redaction of paths in the log', () => {
  it('hides the ID of an upload whose URL needs no secret', () => {
    const known = { secrets: [], isSecret: () => false }
    expect(redactPath('/v1/tus/7uLjvUQ9eGxAoGkRZ5yZ9f~first', known)).to.equal('/v1/tus/…~first')
    expect(redactPath('/v1/tus/7uLjvUQ9eGxAoGkRZ5yZ9f', known)).to.equal('/v1/tus/7uLjvUQ9eGxAoGkRZ5yZ9f')
    expect(redactPath('/v1/upload/direct/7uLjvUQ9eGxAoGkRZ5yZ9f~first/complete', known)).to.equal(
      '/v1/upload/direct/…~first/complete',
    )
  })

  it('hides the signature of a folder', () => {
    const path = `/v1/video/upload/pub_x/s--1.1798761600.${'a-_Z'.repeat(10)}abc--/video/mp4/a.mp4_hls/b.ts`
    const known = { secrets: [], isSecret: () => false }
    expect(redactPath(path, known)).to.equal('/v1/video/upload/pub_x/…/video/mp4/a.mp4_hls/b.ts')
  })

  const MAC = `${'a-_Z'.repeat(10)}abc`
  const LINK = `7uLjvUQ9eGxAoGkRZ5yZ9f/first.a.b..png.${MAC}/folder`
  for (const [path, expected] of [
    [`/v1/upload/sign/${LINK}`, '/v1/upload/sign/7uLjvUQ9eGxAoGkRZ5yZ9f/…/folder'],
    [`/v1/cookie/pub_x/1.1798761600.${MAC}.Z2FsbGVyeQ`, '/v1/cookie/pub_x/…'],
    ['/v1/upload/sign/x/cut.a.b', '/v1/upload/sign/x/…'],
    [`//v1/upload/sign/${LINK}`, '//v1/upload/sign/7uLjvUQ9eGxAoGkRZ5yZ9f/…/folder'],
    ['//v1//upload/sign//x//cut.a.b/c', '//v1//upload/sign//x//…/c'],
    ['/V1/Upload/SIGN/x/cut.a.b', '/V1/Upload/SIGN/x/…'],
    ['/v1/upload/si%67n/x/cut.a.b', '/…'],
    ['/v1/upload/si%2567n/x/cut.a.b', '/…'],
    ['/v1%2fupload/sign%2fx%2fcut.a.b', '/…'],
    [`/other/${LINK}`, '/other/7uLjvUQ9eGxAoGkRZ5yZ9f/…/folder'],
    [`/other/x%2Ea.b.${MAC.replaceAll('-', '%2D')}/y`, '/other/…/y'],
    [`/v1/bucket/pub_x/%73--1..${MAC}--/a.png`, '/v1/bucket/pub_x/…/a.png'],
    [`/v1/bucket/pub_x/S--1..${MAC}--x/a.png`, '/v1/bucket/pub_x/…/a.png'],
    [`/v1/bucket/pub_x/s--1%2e%2e${MAC}%2d%2d/a.png`, '/v1/bucket/pub_x/…/a.png'],
    [`/v1/bucket/pub_x/s--1.1798761600.${MAC}--`, '/v1/bucket/pub_x/…'],
    ['//v1/tus/7uLjvUQ9eGxAoGkRZ5yZ9f~first', '//v1/tus/…~first'],
    ['/v1//TUS//7uLjvUQ9eGxAoGkRZ5yZ9f~first', '/v1//TUS//…~first'],
    ['/v1/tus/7uLjvUQ9eGxAoGkRZ5yZ9f%7Efirst', '/…'],
    ['/v1/t%75s/7uLjvUQ9eGxAoGkRZ5yZ9f~first', '/…'],
  ] as const) {
    it(`hides everything that grants access, however the path is written: ${path}`, () => {
      expect(redactPath(path, { secrets: [], isSecret: () => false })).to.equal(expected)
    })
  }

  for (const path of [
    '/v1/image/upload/pub_7uLjvUQ9eGxAoGkRZ5yZ9f/image/png/7uLjvUQ9eGxAoGkRZ5yZ9f.png',
    '/v1/bucket/our-own-token/my_sec_report/a b%20c%zz%.png',
    `/v1/bucket/our-own-token/${'long-name-'.repeat(20)}.png`,
    '/v1/upload/sign',
    '/correct-horse/battery',
    '/',
  ]) {
    it(`leaves the path unchanged: ${path}`, () => {
      expect(masked(path)).to.equal(path)
    })
  }

  for (const [path, expected] of [
    [`/v1/upload/${GENERATED}`, '/v1/upload/…'],
    ['/v1/upload/sec_cut', '/v1/upload/…'],
    [`/v1/upload/Bearer%20${GENERATED}`, '/v1/upload/…'],
    [`/v1/upload/Bearer%2520${GENERATED}`, '/v1/upload/…'],
    [`/token=${GENERATED}`, '/…'],
    [`/;${GENERATED}/x`, '/…/x'],
    [`/v1/image/upload/pub_x:${GENERATED}/x`, '/v1/image/upload/…/x'],
    [`/a%zz${GENERATED}`, '/…'],
    [`/abc${GENERATED}xyz/x`, '/…/x'],
    [`/${GENERATED.replace('_', '%5f')}`, '/…'],
    [`/${HASHED}/x`, '/…/x'],
    [`/token=${HASHED}&x/x`, '/…/x'],
    [`/Bearer+${HASHED.replace('d', '%64')}/x`, '/…/x'],
    ['/odd+one+by%2Bits+digest/x', '/…/x'],
    [`/x/${encodeURIComponent(`token=${CLEAR};`)}/x`, '/x/…/x'],
    [`/x/${encodeURIComponent(encodeURIComponent(CLEAR))}y/x`, '/x/…/x'],
    [`/x/token=${CLEAR}`, '/…'],
  ] as const) {
    it(`hides the secret: ${path}`, () => {
      expect(masked(path)).to.equal(expected)
    })
  }

  it('takes no noticeable time for a hostile path', () => {
    // What takes the square of the length takes seconds or minutes.
    for (const part of ['/', '%25', '%2525', 'sec_', 'a', `${'a'.repeat(16)}.`, ':', '/sec'])
      expect(masked(part.repeat(BYTES / part.length))).to.be.a('string')
  })
})

describe('redaction of the path of a remote file in the log', () => {
  const url = encodeURIComponent('https://user:pass@cdn.example.com:8443/a/b.png?signature=x#y')
  for (const [path, expected] of [
    [`/v1/image/fetch/pub_x/${url}`, '/v1/image/fetch/pub_x/https%3A%2F%2Fcdn.example.com%3A8443…'],
    [`/v1/video/fetch/keep/pub_x/${url}`, '/v1/video/fetch/keep/pub_x/https%3A%2F%2Fcdn.example.com%3A8443…'],
    [
      '/v1/image/fetch/pub_x/https://cdn.example.com/a',
      '/v1/image/fetch/pub_x/https%3A%2F%2Fcdn.example.com…',
    ],
    [
      '/v1/image/fetch/pub_x/https%3A%2F%2Fcdn.example.com/a/b',
      '/v1/image/fetch/pub_x/https%3A%2F%2Fcdn.example.com…',
    ],
    [
      '//v1/image/fetch//pub_x/https:/cdn.example.com/a',
      '//v1/image/fetch//pub_x/https%3A%2F%2Fcdn.example.com…',
    ],
    [`/v1/image/fetch/pub_x/${encodeURIComponent(url)}`, '/v1/image/fetch/pub_x/…'],
    ['/v1/image/fetch/pub_x/%zz', '/v1/image/fetch/pub_x/…'],
    ['/v1/image/fetch/pub_x/file%3A%2F%2F%2Fetc%2Fpasswd', '/v1/image/fetch/pub_x/…'],
    ['/v1/image/fetch/pub_x/secret', '/v1/image/fetch/pub_x/…'],
    ['/v1/image/fetch/pub_x/', '/v1/image/fetch/pub_x/'],
    ['/v1/image/upload/pub_x/fetch/a/b.png', '/v1/image/upload/pub_x/fetch/a/b.png'],
  ] as const) {
    it(`contains at most the host: ${path}`, () => {
      expect(withoutRemotePath(path)).to.equal(expected)
    })
  }
})
