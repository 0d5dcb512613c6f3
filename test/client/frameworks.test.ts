import { expect } from 'chai'
import astro from '../../client/frameworks/astro.ts'
import next from '../../client/frameworks/next.ts'
import nuxt from '../../client/frameworks/nuxt-image.ts'

const SRC = 'https://files.example/v1/image/upload/pub_1/shop/chair.jpg'

describe('the loader for next/image', () => {
  const cases: Array<[title: string, props: Parameters<typeof next>[0], url: string]> = [
    ['requests a width and the best format', { src: SRC, width: 640 }, `${SRC}?w=640&f=auto`],
    ['takes a quality', { src: SRC, width: 640, quality: 50 }, `${SRC}?w=640&q=50&f=auto`],
    ['keeps parameters of src', { src: `${SRC}?ar=1:1`, width: 64 }, `${SRC}?ar=1:1&w=64&f=auto`],
    ['keeps a width of src', { src: `${SRC}?width=9`, width: 64 }, `${SRC}?width=9&f=auto`],
    ['keeps a format of src', { src: `${SRC}?format=png`, width: 64 }, `${SRC}?format=png&w=64`],
    ['leaves the format to a preset', { src: `${SRC}?preset=a`, width: 64 }, `${SRC}?preset=a&w=64`],
    ['takes a path', { src: '/v1/image/alias/pub/a.jpg', width: 1 }, '/v1/image/alias/pub/a.jpg?w=1&f=auto'],
    [
      'takes an object of another system',
      { src: '/v1/image/foreign/pub/a.jpg', width: 1 },
      '/v1/image/foreign/pub/a.jpg?w=1&f=auto',
    ],
    ['leaves a signed URL unchanged', { src: `${SRC}?w=3&s=1.ab`, width: 64 }, `${SRC}?w=3&s=1.ab`],
    ['leaves a file of the app unchanged', { src: '/logo.png', width: 64 }, '/logo.png'],
  ]
  for (const [title, props, url] of cases) it(title, () => expect(next(props)).to.equal(url))
})

describe('the provider for Nuxt Image', () => {
  const { getImage } = nuxt()
  const baseURL = 'https://files.example/v1/image/upload/pub_1/'

  it('maps the modifiers, and passes others as parameters', () => {
    const modifiers = {
      width: 300,
      height: 200,
      format: 'webp',
      quality: '60',
      background: '#fff',
      fit: 'contain',
      blur: 3,
    }
    expect(getImage(SRC, { modifiers }).url).to.equal(
      `${SRC}?w=300&h=200&f=webp&q=60&bg=fff&fit=contain&blur=3`,
    )
    expect(getImage(SRC, { modifiers: { width: 64, position: 'left top' } }).url).to.equal(
      `${SRC}?w=64&f=auto&func=top-left`,
    )
  })

  it('ignores modifiers that Nuxt leaves undefined', () => {
    const modifiers = { width: 300, height: undefined, format: undefined } as Record<string, unknown>
    expect(getImage(SRC, { modifiers }).url).to.equal(`${SRC}?w=300&f=auto`)
  })

  it('appends a relative src to baseURL', () => {
    const urlOf = (src: string) => getImage(src, { modifiers: { width: 1 }, baseURL }).url
    for (const src of ['/shop/chair.jpg', 'shop/chair.jpg', SRC])
      expect(urlOf(src)).to.equal(`${SRC}?w=1&f=auto`)
  })
})

describe('the image service for Astro', () => {
  const image = { src: SRC, width: 600, height: 400 }

  it('does not crop without fit, and crops with it', () => {
    expect(astro.getURL(image)).to.equal(`${SRC}?w=600&f=auto`)
    expect(astro.getURL({ ...image, fit: 'cover', position: 'bottom right' })).to.equal(
      `${SRC}?w=600&h=400&f=auto&fit=cover&func=bottom-right`,
    )
    expect(astro.getURL({ ...image, fit: 'contain' })).to.equal(`${SRC}?w=600&h=400&f=auto&fit=inside`)
  })

  it('maps format, quality, background and a position in percent', () => {
    const given = { ...image, format: 'avif', quality: 'high', background: '#ffffff' }
    expect(astro.getURL(given)).to.equal(`${SRC}?w=600&f=avif&q=80&bg=ffffff`)
    expect(astro.getURL({ ...image, fit: 'cover', position: '30% 75.5%' })).to.equal(
      `${SRC}?w=600&h=400&f=auto&fit=cover&fx=0.3&fy=0.755`,
    )
    expect(astro.getURL({ ...image, fit: 'cover', position: '20px 5px' })).to.not.match(/func|fx/)
  })

  it('delivers an image of the project unchanged', () => {
    expect(astro.getURL({ src: { src: '/_astro/logo.png' }, width: 3 })).to.equal('/_astro/logo.png')
  })

  it('offers widths in the same ratio, as far as Sluice can render them', () => {
    const values = astro.getSrcSet({ ...image, format: 'webp', widths: [6016, 900, 300] })
    expect(values.map(({ transform }) => [transform.width, transform.height])).to.deep.equal([
      [300, 200],
      [900, 600],
    ])
    expect(values[0])
      .to.include({ descriptor: '300w' })
      .and.deep.include({ attributes: { type: 'image/webp' } })
    expect(astro.getSrcSet({ ...image, height: 6000, widths: [600] })).to.deep.equal([])
    expect(astro.getSrcSet(image)).to.deep.equal([])
  })

  it('offers densities', () => {
    const values = astro.getSrcSet({ ...image, densities: ['2x', 1.5] })
    expect(values.map(({ transform, descriptor }) => [transform.width, descriptor])).to.deep.equal([
      [900, '1.5x'],
      [1200, '2x'],
    ])
  })

  it('leaves attributes of <img>, without its own properties', () => {
    const given = {
      ...image,
      alt: 'chair',
      class: 'a',
      fit: 'cover',
      widths: [1],
      layout: 'constrained',
      quality: 3,
    }
    expect(astro.getHTMLAttributes(given)).to.deep.equal({
      ...{ width: 600, height: 400, alt: 'chair', class: 'a', loading: 'lazy', decoding: 'async' },
    })
    expect(astro.getHTMLAttributes({ ...given, loading: 'eager' })).to.include({ loading: 'eager' })
  })
})
