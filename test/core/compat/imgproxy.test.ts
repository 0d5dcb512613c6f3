import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { readImgproxyUrl } from '../../../src/core/compat/imgproxy.ts'
import { Problem } from '../../../src/core/problem.ts'

const NOW = Date.UTC(2026, 0, 1)
const SOURCE = 'plain/local:///a/b.jpg'
const read = (path: string) => {
  const { source, query } = readImgproxyUrl(`/_/${path}`, { now: NOW })
  const place = 'url' in source ? source.url : source.names.map(({ name }) => name).join(' | ')
  // The default qualities have a test of their own.
  return `${place} ${[...query]
    .filter(([name, value]) => name !== 'q' || path.includes(`q:${value}`))
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&')}`
}
const refusal = (path: string, keys?: { key: string; salt: string }): Problem => {
  try {
    readImgproxyUrl(path, { now: NOW, keys })
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error(`${path} was accepted`)
}
const base64 = (text: string) => Buffer.from(text).toString('base64url')

describe('URLs of imgproxy', () => {
  for (const [options, quality] of [
    ['w:300', '80'],
    ['w:300/f:webp', '79'],
    ['w:300/f:avif', '63'],
    ['w:300/q:50', '50'],
    ['w:300/f:best', undefined],
    ['preset:card', undefined],
  ] as const)
    it(`have the quality of imgproxy: ${options}`, () => {
      const { query } = readImgproxyUrl(`/_/${options}/${SOURCE}`, { now: NOW })
      expect(query.get('q')).to.equal(quality)
    })

  const OPTIONS: ReadonlyArray<readonly [options: string, ours: string]> = [
    ['rs:fill:300:200', 'fit=crop&h=200&w=300'],
    ['rs:fill-down:300:200', 'fit=cover&h=200&w=300'],
    ['rs:fit:300:200:1', 'enlarge=1&fit=inside&h=200&w=300'],
    ['resize:force:300:200:0', 'fit=fill&h=200&w=300'],
    ['rs:fit:300:0', 'fit=inside&w=300'],
    ['rs:fit:300:200:0:1', 'fit=contain&h=200&w=300'],
    ['s:300:200', 'fit=inside&h=200&w=300'],
    ['w:300', 'w=300'],
    ['w:300/h:200/rt:fill-down', 'fit=cover&h=200&w=300'],
    ['g:sm', 'func=auto'],
    ['g:nowe', 'func=northwest'],
    ['gravity:fp:0.2:0.8', 'fx=0.2&fy=0.8'],
    ['g:obj:face', 'func=face'],
    ['q:80/f:webp', 'f=webp&q=80'],
    ['q:0', ''],
    ['dpr:2/w:10', 'dpr=2&w=10'],
    ['el:1/w:10', 'enlarge=1&w=10'],
    ['c:300:200:nowe:10:20', 'crop=10,20,300,200'],
    ['t:10', 'trim=10'],
    ['pd:10:20', 'pad=10,20,10,20'],
    ['padding:5', 'pad=5,5,5,5'],
    ['bg:255:136:0', 'bg=ff8800'],
    ['bg:FF8800', 'bg=ff8800'],
    ['bl:5/sh:0.5', 'blur=5&sharpen_sigma=0.5'],
    ['rot:90', 'rotate=90'],
    ['rot:90/w:300', 'h=300&rotate=90'],
    ['rs:fit:300:200/rot:270', 'fit=inside&h=300&rotate=270&w=200'],
    ['rot:180/w:300', 'rotate=180&w=300'],
    ['mb:60000', 'maxbytes=60000'],
    ['pg:0', 'page=1'],
    ['da:1', 'a=0'],
    ['scp:0', 'icc=keep'],
    ['pr:thumb', 'preset=thumb'],
    ['cb:v2/sm:1/ar:1', ''],
    ['att:1/fn:name.jpg', 'download=name.jpg'],
    [`att:1/fn:${base64('näme.jpg')}:1`, 'download=näme.jpg'],
    ['raw:1/w:300', ''],
    ['raw:0/w%3A300', 'w=300'],
    [`exp:${NOW / 1000 + 1}`, ''],
  ]
  for (const [options, ours] of OPTIONS)
    it(`${options} is ${ours || 'the original'}`, () =>
      expect(read(`${options}/${SOURCE}`)).to.equal(`a/b.jpg ${ours}`))

  const SOURCES: ReadonlyArray<readonly [path: string, ours: string]> = [
    ['w:9/plain/s3://bucket/a/b.jpg@webp', 'a/b.jpg f=webp&w=9'],
    ['w:9/plain/folder/b.jpg', 'folder/b.jpg w=9'],
    ['w:9/plain/http://127.0.0.1/x%3Fy=1%40z', 'http://127.0.0.1/x?y=1@z w=9'],
    [`w:9/${base64('local:///a/b.jpg')}.png`, 'a/b.jpg f=png&w=9'],
    [
      `w:9/${base64('http://127.0.0.1/some/long/path.jpg').replace(/(.{16})/g, '$1/')}`,
      'http://127.0.0.1/some/long/path.jpg w=9',
    ],
    ['plain/local:///a.jpg', 'a.jpg '],
  ]
  for (const [path, ours] of SOURCES) it(`${path} is ${ours}`, () => expect(read(path)).to.equal(ours))

  for (const option of [
    'rs:auto:300:200',
    'g:no:10:0',
    'g:obj:cat',
    'wm:0.5:ce',
    'c:300:200',
    'c:0.5:0.5:nowe:0:0',
    'pix:10',
    'mw:300',
    'z:2',
    'ar:0',
    'w:abc',
    'constructor:1',
  ])
    it(`${option} is a 400, which names it`, () => {
      const { status, code, members } = refusal(`/_/${option}/${SOURCE}`)
      expect({ status, code, members }).to.deep.equal({
        status: 400,
        code: 'no_equivalent',
        members: { received: option },
      })
    })

  it('that are encrypted, or not complete, are refused', () => {
    expect(refusal('/_/w:9/enc/AAAA')).to.include({ status: 400, code: 'no_equivalent' })
    for (const path of ['/_', '/_/', '/_/w:9', '/_/w:9/plain/%E0', '/_/w:9/%20'])
      expect(refusal(path).status, path).to.equal(404)
  })

  it('have the end of their lifetime', () => {
    const until = NOW / 1000 + 60
    expect(readImgproxyUrl(`/_/exp:${until}/${SOURCE}`, { now: NOW }).until).to.equal(until * 1000)
    expect(readImgproxyUrl(`/_/w:9/${SOURCE}`, { now: NOW })).not.to.have.property('until')
  })

  it('expire, and have a signature of their raw path', () => {
    expect(refusal(`/_/exp:${NOW / 1000}/${SOURCE}`)).to.include({ status: 403, code: 'url_expired' })
    // The example of https://docs.imgproxy.net/usage/signing_url
    const keys = { key: '736563726574', salt: '68656C6C6F' }
    const path = '/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png'
    const signature = createHmac('sha256', 'secret').update('hello').update(path).digest('base64url')
    expect(signature).to.equal('oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8')
    expect(readImgproxyUrl(`/${signature}${path}`, { keys, now: NOW }).isSigned).to.equal(true)
    expect(refusal(`/${signature}${path.replace('300', '301')}`, keys)).to.include({
      status: 403,
      code: 'url_invalid',
    })
    expect(refusal(`/_${path}`, keys)).to.include({ status: 403, code: 'url_invalid' })
  })
})
