import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { createElement, type FunctionComponent } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { createClient, type SluiceClient } from '../../../client/index.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { bundled, type Site, startSite } from './page.ts'

const SRC = 'https://files.example/v1/image/upload/pub/image/png/a.png'
// Of an image without transparency.
const HASH = '1QcSHQRnh493V4dIh4eXh1h4kJUI'
const REACT = join(PROJECT, 'client', 'react.ts')
const IMAGE = join(PROJECT, 'client', 'react', 'image.ts')

type Components = Record<'SluiceImage' | 'SluiceUploader', FunctionComponent<Record<string, unknown>>>

describe('sluice/react on a server', () => {
  let components: Components
  before(async () => {
    // Its types need those of pages.
    components = await import(REACT)
  })
  const rendered = (name: keyof Components, properties: Record<string, unknown>) =>
    renderToStaticMarkup(createElement(components[name], properties))
  const attribute = (html: string, name: string) =>
    new RegExp(` ${name}="([^"]*)"`).exec(html)?.[1]?.replaceAll('&amp;', '&')

  it('renders an image with one, two and three times its width', () => {
    const html = rendered('SluiceImage', { src: SRC, alt: 'A cat', width: 200, height: 100 })
    expect(attribute(html, 'srcSet')).to.equal(
      [200, 400, 600].map((w) => `${SRC}?w=${w}&f=auto ${w}w`).join(', '),
    )
    expect(attribute(html, 'src')).to.equal(`${SRC}?w=400&f=auto`)
    expect(html).to.include('sizes="200px"').and.include('loading="lazy"').and.include('alt="A cat"')
  })

  it('renders the widths of a window for an image without a width', () => {
    const html = rendered('SluiceImage', { src: SRC, alt: '' })
    expect(
      attribute(html, 'srcSet')
        ?.split(', ')
        .map((one) => one.split(' ')[1]),
    ).to.deep.equal([320, 480, 640, 960, 1280, 1920, 2560, 3840].map((w) => `${w}w`))
    expect(attribute(html, 'sizes')).to.equal('100vw')
  })

  it('passes parameters, sizes, widths and priority, and leaves signed URLs to a function', () => {
    const properties = { src: SRC, alt: '', sizes: '50vw', widths: [100, 200], priority: true }
    const html = rendered('SluiceImage', { ...properties, parameters: { ar: '1:1', f: 'webp' }, id: 'cat' })
    expect(attribute(html, 'srcSet')).to.equal(
      `${SRC}?w=100&ar=1:1&f=webp 100w, ${SRC}?w=200&ar=1:1&f=webp 200w`,
    )
    expect(html).to.include('loading="eager"').and.include('fetchPriority="high"').and.include('id="cat"')
    const signed = rendered('SluiceImage', { ...properties, urlOf: (width: number) => `/signed/${width}` })
    expect(attribute(signed, 'srcSet')).to.equal('/signed/100 100w, /signed/200 200w')
  })

  it('names the priority as each version of React accepts it', async () => {
    const { fetchPriorityName } = await import(IMAGE)
    expect(['18.3.1', '19.0.0', '20.1.0'].map(fetchPriorityName)).to.deep.equal([
      'fetchpriority',
      'fetchPriority',
      'fetchPriority',
    ])
  })

  it('has a placeholder from a ThumbHash, or from a record with information', () => {
    const placeholder = /style="[^"]*background:url\(data:image\/png;base64,/
    expect(rendered('SluiceImage', { src: SRC, alt: '', thumbHash: HASH })).to.match(placeholder)
    const record = { src: SRC, options: { info: { thumbHash: HASH } } }
    expect(rendered('SluiceImage', { src: record, alt: '' })).to.match(placeholder)
    for (const thumbHash of [undefined, 'no hash'])
      expect(rendered('SluiceImage', { src: SRC, alt: '', thumbHash })).to.not.include('background')
  })

  it('renders an empty element for the uploader', () => {
    const html = rendered('SluiceUploader', {
      linkUrl: '/link',
      multiple: true,
      maxSize: '5MB',
      className: 'a',
    })
    expect(html).to.equal(
      '<sluice-uploader class="a" link-url="/link" max-size="5MB" multiple=""></sluice-uploader>',
    )
  })
})

onOneBackend('examples/react in Chromium', (start) => {
  let tab: Page
  let site: Site
  let service: Service
  let client: SluiceClient
  before(async () => {
    const script = bundled({
      entryPoints: [join(PROJECT, 'examples', 'react', 'src', 'main.jsx')],
      jsx: 'automatic',
      alias: { 'sluice/react': REACT },
      loader: { '.css': 'empty' },
    })
    ;[tab, service, site] = await Promise.all([startPage(), start(), script.then(startSite)])
    client = createClient({ baseUrl: service.url, secret: service.tokens.secretClientToken })
    site.link = () => client.links.create({ expiresIn: 600 })
    site.pages.set('/', '<div id="root"></div>')
    await tab.goto(site.url)
  })
  after(async () => {
    await tab.context().close()
    site.close()
  })
  const file = async () => {
    const photo = (await picture({ width: 90, height: 60 })).toString('base64')
    return `new File([Uint8Array.from(atob('${photo}'), (char) => char.charCodeAt(0))], 'cat.png', { type: 'image/png' })`
  }

  it('uploads with <SluiceUploader> and shows the record with <SluiceImage>', async () => {
    await tab.evaluate(`(async () => {
      await customElements.whenDefined('sluice-uploader')
      document.querySelector('sluice-uploader').queue.add([${await file()}])
    })()`)
    await eventually(async () => {
      const size = await tab.evaluate(`(async () => {
        const img = document.querySelector('.gallery img')
        await img.decode()
        return [img.alt, img.getAttribute('width'), img.naturalWidth / img.naturalHeight > 1]
      })()`)
      expect(size).to.deep.equal(['cat.png', '220', true])
    })
    expect(await tab.evaluate(`document.querySelectorAll('.gallery img').length`)).to.equal(1)
  })

  it('uploads with useUpload(), from an input', async () => {
    await tab.evaluate(`(() => {
      const data = new DataTransfer()
      data.items.add(${await file()})
      const input = document.querySelector('.avatar input')
      input.files = data.files
      input.dispatchEvent(new Event('change', { bubbles: true }))
    })()`)
    await eventually(async () => {
      const shown = `document.querySelector('.avatar img')?.getAttribute('src') ?? ''`
      expect(await tab.evaluate(shown)).to.match(/\?w=192&f=auto$/)
    })
  })

  it('shows a refusal of useUpload()', async () => {
    await tab.evaluate(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(['text'], 'a.txt', { type: 'text/plain' }))
      document.querySelector('.avatar').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
    })()`)
    await eventually(async () =>
      expect(await tab.evaluate(`document.querySelector('.avatar [role=alert]')?.textContent`)).to.equal(
        'The type of a.txt is not accepted.',
      ),
    )
  })
})
