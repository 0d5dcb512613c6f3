import { expect } from 'chai'
import { buildUrl, srcset, url } from '../../client/index.ts'

const src = 'https://files.example/v1/image/upload/pub_1/a.jpg'

describe('delivery URLs of the client library', () => {
  const cases: [parameters: Parameters<typeof buildUrl>[1], query: string][] = [
    [{ w: 400 }, '?w=400'],
    [{ w: 400, h: undefined, flip: false, flop: true }, '?w=400&flop'],
    [{ crop: [1, 2, 30, 40], ar: '16:9' }, '?crop=1,2,30,40&ar=16:9'],
    [{ text: 'a & b = ü?', wm: 'logos/x.png' }, '?text=a%20%26%20b%20%3D%20%C3%BC%3F&wm=logos/x.png'],
    [{ download: 'my file.jpg', preset: 'card' }, '?download=my%20file.jpg&preset=card'],
    ['?w=3&h=4', '?w=3&h=4'],
    [{}, ''],
    [undefined, ''],
  ]
  for (const [parameters, query] of cases)
    it(`has ${query || 'no query'} for ${JSON.stringify(parameters)}`, () => {
      expect(buildUrl(src, parameters)).to.equal(src + query)
    })

  it('adds to the parameters that a URL has, and takes a record', () => {
    expect(buildUrl(`${src}?w=4`, { h: 5 })).to.equal(`${src}?w=4&h=5`)
    expect(buildUrl({ src }, { h: 5 })).to.equal(`${src}?h=5`)
  })

  it('have no signature when parameters are added, since it would be invalid', () => {
    const signature = `s=1.${'a'.repeat(43)}`
    expect(buildUrl(`${src}?exp=1798761600&${signature}`, { w: 4 })).to.equal(`${src}?w=4`)
    expect(buildUrl(`${src}?h=5&${signature}`, { w: 4 })).to.equal(`${src}?h=5&w=4`)
    expect(buildUrl(`${src}?${signature}?h=5`, { w: 4 })).to.equal(`${src}?h=5&w=4`)
    expect(buildUrl(`${src}?${signature}`)).to.equal(`${src}?${signature}`)
    expect(`${url({ src: `${src}?${signature}` }).w(4)}`).to.equal(`${src}?w=4`)
  })

  it('are built step by step', async () => {
    const small = url({ src }).width(400)
    expect(`${small.format('auto')}`).to.equal(`${src}?width=400&format=auto`)
    expect(small.flip().with({ q: 50 }).toString()).to.equal(`${src}?width=400&flip&q=50`)
    expect(JSON.stringify([small])).to.equal(JSON.stringify([`${src}?width=400`]))
    // A builder is not a promise.
    expect(await small).to.equal(small)
  })

  it('have several widths in a srcset, with f=auto by default', () => {
    expect(srcset(src, [320, 640])).to.equal(`${src}?w=320&f=auto 320w, ${src}?w=640&f=auto 640w`)
    expect(srcset(src, [320], { f: 'webp', q: 40 })).to.equal(`${src}?w=320&f=webp&q=40 320w`)
    expect(srcset(src, [320], { preset: 'card' })).to.equal(`${src}?w=320&preset=card 320w`)
  })
})
