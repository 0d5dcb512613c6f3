import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { createClient, type FileRecord, type SluiceClient } from '../../../client/index.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { dropFiles, startPage } from '../../support/peers/browser-pages.ts'
import type { Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { bundled, type Site, startSite, UPLOADER } from './page.ts'

const MIB = 1024 * 1024
const ELEMENT = `document.querySelector('sluice-uploader')`

/** What a test sees of a file. */
interface Seen {
  name: string
  status: string
  /** The text in its row. */
  text: string
}

onOneBackend('<sluice-uploader> in Chromium', (start) => {
  let tab: Page
  let site: Site
  let service: Service
  let client: SluiceClient
  let folder: string
  before(async () => {
    ;[tab, service, site] = await Promise.all([
      startPage(),
      start(),
      bundled({ entryPoints: [UPLOADER] }).then(startSite),
    ])
    client = createClient({ baseUrl: service.url, secret: service.tokens.secretClientToken })
    folder = await temporaryFolder()
  })
  after(async () => {
    await tab.context().close()
    site.close()
    await rm(folder, { recursive: true })
  })

  let count = 0
  /** Opens a page with an uploader of its own. */
  async function open(attributes = 'multiple'): Promise<void> {
    count += 1
    site.links.length = 0
    site.link = ({ folder: inner }) =>
      client.links.create({ expiresIn: 600, folder: ['page', inner].filter(Boolean).join('/') })
    // The script runs before the element is defined.
    site.pages.set(
      `/${count}`,
      `<form><sluice-uploader link-url="/link" name="files" resume-scope="${count}" ${attributes}></sluice-uploader></form>
       <script>Object.assign(${ELEMENT}, { resumableFromBytes: ${MIB}, chunkBytes: ${MIB / 4} })</script>`,
    )
    await tab.goto(`${site.url}/${count}`)
  }
  const seen = async () =>
    (await tab.evaluate(`${ELEMENT}.queue.getState().items.map(({ name, status }, i) => ({
      name, status, text: ${ELEMENT}.shadowRoot.querySelectorAll('li .status')[i]?.textContent,
    }))`)) as Seen[]
  const statuses = async () => Object.fromEntries((await seen()).map(({ name, status }) => [name, status]))
  /** The records in the value of the form. */
  const stored = async () =>
    JSON.parse(
      (await tab.evaluate(`new FormData(document.querySelector('form')).get('files') ?? '[]'`)) as string,
    ) as FileRecord[]
  const file = async (name: string, content: string | Buffer) => {
    await writeFile(join(folder, name), content)
    return join(folder, name)
  }
  const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

  it('uploads three dropped files, and has their records as the value of the form', async () => {
    await open()
    const photo = await picture({ width: 60, height: 40 })
    const paths = [await file('käse.png', photo), await file('a.txt', 'one'), await file('b.txt', 'two')]
    await dropFiles(tab, 'sluice-uploader', paths)
    await eventually(async () =>
      expect(await statuses()).to.deep.equal({ 'käse.png': 'done', 'a.txt': 'done', 'b.txt': 'done' }),
    )
    const records = await stored()
    expect(records.map(({ originalName }) => originalName).sort()).to.deep.equal([
      'a.txt',
      'b.txt',
      'käse.png',
    ])
    const [image] = records.filter(({ mimeType }) => mimeType === 'image')
    expect((await bytesAt(image?.src ?? '')).equals(photo)).to.equal(true)
    expect(site.links).to.deep.include({ name: 'a.txt', size: 3, type: 'text/plain', folder: '' })
  })

  it('stores the files of a dropped folder in the same folders', async () => {
    await open()
    await mkdir(join(folder, 'photos', '2026'), { recursive: true })
    for (const path of ['photos/.DS_Store', 'photos/a.txt', 'photos/2026/b.txt', 'c.txt'])
      await writeFile(join(folder, path), path)
    await dropFiles(tab, 'sluice-uploader', [join(folder, 'photos'), join(folder, 'c.txt')])
    await eventually(async () =>
      expect(await statuses()).to.deep.equal({ 'a.txt': 'done', 'b.txt': 'done', 'c.txt': 'done' }),
    )
    const keys = (await stored()).map(({ originalName, s3PathOriginal }) => [
      originalName,
      s3PathOriginal.split('/text/')[0],
    ])
    expect(keys.sort()).to.deep.equal([
      ['a.txt', 'page/photos'],
      ['b.txt', 'page/photos/2026'],
      ['c.txt', 'page'],
    ])
  })

  it('states that a dropped folder could not be read', async () => {
    await open()
    await tab.evaluate(`{
      const data = new DataTransfer()
      data.items.add(new File(['a'], 'a.txt'))
      const readEntries = (_, fail) => fail(new DOMException('', 'NotReadableError'))
      const entry = { isDirectory: true, name: 'closed', createReader: () => ({ readEntries }) }
      DataTransferItem.prototype.webkitGetAsEntry = () => entry
      ${ELEMENT}.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }))
    }`)
    await eventually(async () =>
      expect(await tab.evaluate(`${ELEMENT}.shadowRoot.querySelector('[part=hint]').textContent`)).to.match(
        /could not be read/,
      ),
    )
  })

  it('uploads a pasted image, but not while the user types elsewhere', async () => {
    await open()
    const paste = (target: string) => `(() => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File(['pasted'], 'image.png', { type: 'image/png' }))
      return ${target}.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true, composed: true }))
    })()`
    await tab.evaluate(`document.body.append(document.createElement('textarea'))`)
    expect(await tab.evaluate(paste(`document.querySelector('textarea')`))).to.equal(true)
    expect(await seen()).to.deep.equal([])
    expect(await tab.evaluate(paste('document.body'))).to.equal(false)
    await eventually(async () => expect(await statuses()).to.deep.equal({ 'image.png': 'done' }))
  })

  /** Adds a file of 2 MiB in chunks of 256 KiB, and runs code when half of it is sent. */
  const addLarge = (halfway: string) => `(() => {
    const element = ${ELEMENT}
    const stop = new AbortController()
    element.addEventListener('sluice-change', ({ detail: { sentBytes } }) => {
      if (sentBytes < ${MIB}) return
      stop.abort()
      ${halfway}
    }, { signal: stop.signal })
    const bytes = new Uint8Array(${2 * MIB}).map((_, i) => i * 7)
    element.queue.add([new File([bytes], 'film.bin', { lastModified: 1700000000000 })])
  })()`
  const LARGE = Buffer.from(new Uint8Array(2 * MIB).map((_, i) => i * 7))

  it('pauses and resumes a large file by its button', async () => {
    await open()
    const button = (name: string) =>
      `${ELEMENT}.shadowRoot.querySelector('[aria-label="${name} film.bin"]').click()`
    await tab.evaluate(addLarge(button('Pause')))
    await eventually(async () => expect(await statuses()).to.deep.equal({ 'film.bin': 'paused' }))
    expect((await seen())[0]?.text).to.equal('2.1 MB · Paused')
    expect(await tab.evaluate(`document.querySelector('form').checkValidity()`)).to.equal(true)
    await tab.evaluate(button('Resume'))
    await eventually(async () => expect(await statuses()).to.deep.equal({ 'film.bin': 'done' }))
    const [record] = await stored()
    expect((await bytesAt(record?.src ?? '')).equals(LARGE)).to.equal(true)
    expect(site.links).to.have.length(1)
  })

  it('continues after a reload in the middle of an upload, without another link', async () => {
    await open()
    await tab.evaluate(addLarge('location.reload()'))
    await eventually(async () => expect(await statuses()).to.deep.equal({ 'film.bin': 'done' }))
    const [record] = await stored()
    expect((await bytesAt(record?.src ?? '')).equals(LARGE)).to.equal(true)
    expect(site.links).to.have.length(1)
    // Nothing remains for the next reload.
    await tab.goto(`${site.url}/${count}?again`)
    await tab.evaluate(`new Promise((done) => setTimeout(done, 100))`)
    expect(await seen()).to.deep.equal([])
  })

  it('states that it is offline, and continues when it is online again', async () => {
    await open()
    const session = await tab.context().newCDPSession(tab)
    const network = (offline: boolean, uploadThroughput = -1) =>
      session.send('Network.emulateNetworkConditions', {
        offline,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      })
    await session.send('Network.enable')
    // So slow that the file is not sent before the network is lost.
    await network(false, MIB / 4)
    await tab.evaluate(addLarge(''))
    await eventually(async () => expect(await statuses()).to.deep.equal({ 'film.bin': 'uploading' }))
    const text = 'You are offline. The upload continues when you are online again.'
    try {
      await network(true)
      await eventually(async () => expect((await seen())[0]?.text).to.equal(text))
    } finally {
      await network(false)
    }
    await eventually(async () => expect(await statuses()).to.deep.equal({ 'film.bin': 'done' }))
    const [record] = await stored()
    expect((await bytesAt(record?.src ?? '')).equals(LARGE)).to.equal(true)
  })

  itLong('stays paused after a reload', async () => {
    await open()
    await tab.evaluate(addLarge('element.queue.pause()'))
    await eventually(async () => expect(await statuses()).to.deep.equal({ 'film.bin': 'paused' }))
    await tab.goto(`${site.url}/${count}?again`)
    await eventually(async () => expect(await statuses()).to.deep.equal({ 'film.bin': 'paused' }))
    await tab.evaluate(`${ELEMENT}.queue.remove(${ELEMENT}.queue.getState().items[0].id)`)
  })

  it('shows why a file is refused, and what to do', async () => {
    await open()
    site.link = ({ name }) =>
      client.links.create(
        name === 'large.txt' ? { expiresIn: 60, maxBytes: 5 } : { expiresIn: 60, types: ['image/*'] },
      )
    await tab.evaluate(`${ELEMENT}.queue.add([
      new File(['more than five bytes'], 'large.txt'), new File(['text'], 'text.png')
    ])`)
    await eventually(async () =>
      expect(await seen()).to.deep.equal([
        { name: 'large.txt', status: 'failed', text: 'This file is too large. Choose a file of up to 5 B.' },
        {
          name: 'text.png',
          status: 'failed',
          text: 'This type of file is not accepted. Choose one of: images.',
        },
      ]),
    )
    // The same file would be refused again.
    expect(
      await tab.evaluate(
        `${ELEMENT}.shadowRoot.querySelectorAll('[aria-label^=Retry]:not([hidden])').length`,
      ),
    ).to.equal(0)
  })

  it('refuses files by its own attributes before it sends them', async () => {
    await open('multiple accept="image/*,.pdf" max-size="0.01KB"')
    await tab.evaluate(`${ELEMENT}.queue.add([
      new File(['text'], 'a.txt', { type: 'text/plain' }), new File(['0123456789a'], 'b.PDF'), new File(['0'], 'c.PDF')
    ])`)
    await eventually(async () => expect(await statuses()).to.include({ 'c.PDF': 'done' }))
    expect((await seen()).slice(0, 2)).to.deep.equal([
      {
        name: 'a.txt',
        status: 'failed',
        text: 'This type of file is not accepted. Choose one of: images, PDF.',
      },
      { name: 'b.PDF', status: 'failed', text: 'This file is too large. Choose a file of up to 10 B.' },
    ])
    expect(site.links.map(({ name }) => name)).to.deep.equal(['c.PDF'])
  })

  itLong('waits when there are too many uploads, and then continues by itself', async () => {
    const limited = await start({ env: { UPLOAD_RATE_LIMIT: '1', UPLOAD_RATE_WINDOW_SECONDS: '3' } })
    await open()
    const other = createClient({ baseUrl: limited.url, secret: limited.tokens.secretClientToken })
    site.link = () => other.links.create({ expiresIn: 60 })
    await tab.evaluate(`(() => {
      window.texts = []
      ${ELEMENT}.addEventListener('sluice-change', () => {
        texts.push(...[...${ELEMENT}.shadowRoot.querySelectorAll('li .status')].map((one) => one.textContent))
      })
      ${ELEMENT}.queue.add([new File(['a'], 'a.txt'), new File(['b'], 'b.txt')])
    })()`)
    await eventually(async () => expect(await statuses()).to.deep.equal({ 'a.txt': 'done', 'b.txt': 'done' }))
    const texts = (await tab.evaluate('texts')) as string[]
    expect(texts.filter((text) => /^Too many uploads\. Retry in \d+ s\.$/.test(text))).to.not.deep.equal([])
    await limited.stop()
  })

  it('shows an error of the server that creates links, and retries', async () => {
    await open()
    const { link } = site
    site.link = () => Promise.reject(new Error('not signed in'))
    await tab.evaluate(`${ELEMENT}.queue.add([new File(['a'], 'a.txt')])`)
    await eventually(async () =>
      expect(await seen()).to.deep.equal([
        { name: 'a.txt', status: 'failed', text: 'The upload failed. Retry.' },
      ]),
    )
    site.link = link
    await tab.evaluate(`${ELEMENT}.shadowRoot.querySelector('[aria-label="Retry a.txt"]').click()`)
    await eventually(async () => expect(await statuses()).to.deep.equal({ 'a.txt': 'done' }))
  })

  it('has one file without multiple, and takes part in the form', async () => {
    await open('required')
    const isValid = () => tab.evaluate(`document.querySelector('form').checkValidity()`)
    expect(await isValid()).to.equal(false)
    for (const name of ['a.txt', 'b.txt']) {
      await tab.evaluate(`${ELEMENT}.queue.add([new File(['${name}'], '${name}'), new File(['c'], 'c.txt')])`)
      await eventually(async () => expect(await statuses()).to.deep.equal({ [name]: 'done' }))
    }
    expect(await isValid()).to.equal(true)
    expect((await stored()).map(({ originalName }) => originalName)).to.deep.equal(['b.txt'])
    await tab.evaluate(`document.querySelector('form').reset()`)
    expect(await seen()).to.deep.equal([])
    expect(await isValid()).to.equal(false)
  })

  itLong('takes a photo with the camera', async () => {
    await open('multiple camera')
    await tab.evaluate(`${ELEMENT}.shadowRoot.querySelector('[part~="camera-button"]').click()`)
    await eventually(async () => {
      const isReady = `${ELEMENT}.shadowRoot.querySelector('dialog .primary')?.disabled === false`
      expect(await tab.evaluate(isReady)).to.equal(true)
    })
    await tab.evaluate(`${ELEMENT}.shadowRoot.querySelector('dialog .primary').click()`)
    await eventually(async () => expect((await stored())[0]).to.include({ format: 'jpeg' }))
    expect(await tab.evaluate(`${ELEMENT}.shadowRoot.querySelector('dialog')`)).to.equal(null)
  })
})
