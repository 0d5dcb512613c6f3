import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { CDPSession, Page } from 'playwright-core'
import { createClient, type FileRecord, type SluiceClient } from '../../../client/index.ts'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { allowOrigin } from '../../support/servers/on-s3.ts'
import { s3Server } from '../../support/servers/s3-server.ts'
import { type Service, startService } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { bundled, type Site, startSite, UPLOADER } from './page.ts'

const MIB = 1024 * 1024
const ELEMENT = `document.querySelector('sluice-uploader')`
// A part of 16 MiB, and one of 4 MiB.
const FILM = Buffer.alloc(20 * MIB).map((_, i) => (i >> 12) * 7)
const SHA256 = createHash('sha256').update(FILM).digest('hex')

describe('<sluice-uploader> with direct uploads, in Chromium', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))
  let tab: Page
  let network: CDPSession
  let site: Site
  let service: Service
  let client: SluiceClient
  let endpoint: string
  let forbid: () => Promise<unknown>
  before(async () => {
    endpoint = (await s3Server()).connection.endpoint
    ;[tab, service, site] = await Promise.all([
      startPage(),
      start({ env: { S3_DIRECT_ENDPOINT: endpoint } }),
      bundled({ entryPoints: [UPLOADER] }).then(startSite),
    ])
    forbid = await allowOrigin(site.url)
    client = clientOf(service)
    network = await tab.context().newCDPSession(tab)
    await network.send('Network.enable')
  })
  after(async () => {
    await forbid()
    await tab.context().close()
    site.close()
  })
  afterEach(() => throttle(-1))

  const clientOf = ({ url: baseUrl, tokens }: Service) =>
    createClient({ baseUrl, secret: tokens.secretClientToken })
  const throttle = (uploadThroughput: number, offline = false) =>
    network.send('Network.emulateNetworkConditions', {
      ...{ offline, latency: 0, downloadThroughput: -1 },
      uploadThroughput,
    })
  let count = 0
  /** Opens a page with an uploader of its own, whose uploads are so slow that they can be interrupted. */
  async function open(attributes = '', of = client): Promise<void> {
    count += 1
    site.links.length = 0
    site.link = () => of.links.create({ expiresIn: 600, folder: 'page', uses: 1 })
    site.pages.set(
      `/${count}`,
      `<form><sluice-uploader link-url="/link" name="files" resume-scope="direct ${count}" ${attributes}></sluice-uploader></form>`,
    )
    await tab.goto(`${site.url}/${count}`)
  }
  /** Adds the film, and runs code when a part of its second part is sent. */
  const add = (then = '') =>
    tab.evaluate(`(() => {
      const element = ${ELEMENT}
      const stop = new AbortController()
      window.sent = []
      element.addEventListener('sluice-change', ({ detail: { items: [item] } }) => item && sent.push(item.sentBytes))
      element.addEventListener('sluice-change', ({ detail: { sentBytes } }) => {
        if (sentBytes <= 16.5 * ${MIB}) return
        stop.abort()
        ${then}
      }, { signal: stop.signal })
      const bytes = new Uint8Array(${FILM.length}).map((_, i) => (i >> 12) * 7)
      element.queue.add([new File([bytes], 'film.bin', { lastModified: 1700000000000 })])
    })()`)
  const status = () => tab.evaluate(`${ELEMENT}.queue.getState().items[0]?.status`)
  const becomes = (expected: string | undefined) =>
    eventually(async () => expect(await status()).to.equal(expected))
  /** What this page has requested, without links. */
  const requests = async () => {
    const names = (await tab.evaluate(
      `performance.getEntriesByType('resource').map(({ name }) => name)`,
    )) as string[]
    return [
      ...new Set(
        names.flatMap((name) => {
          const { searchParams, pathname } = new URL(name)
          const part = searchParams.get('partNumber')
          if (part !== null) return [`part ${part}`]
          return /\/v1\/(tus|upload\/direct)/.exec(pathname)?.[1] ?? []
        }),
      ),
    ]
  }
  const expectStored = async () => {
    const text = await tab.evaluate(`new FormData(document.querySelector('form')).get('files')`)
    const [record] = JSON.parse(text as string) as FileRecord[]
    expect(await client.files.get(record?.s3PathOriginal ?? '')).to.include({ sha256: SHA256 })
    expect(record?.s3PathOriginal.split('/')[0]).to.equal('page')
  }
  const pieces = async () => (await service.objects()).filter((name) => name.includes('/tus/pieces/'))

  it('sends a large file to the bucket, and shows all of its progress', async () => {
    await open()
    await throttle(16 * MIB)
    await add()
    await becomes('done')
    await expectStored()
    expect(await requests()).to.have.members(['upload/direct', 'part 1', 'part 2'])
    const sent = (await tab.evaluate('sent')) as number[]
    expect(sent).to.deep.equal(sent.toSorted((one, other) => one - other))
    expect(sent.at(-1)).to.equal(FILM.length)
    expect(sent.some((bytes) => bytes > 0 && bytes < 16 * MIB)).to.equal(true)
  })

  itLong('pauses, and resumes with the missing part and without another link', async () => {
    await open()
    await throttle(8 * MIB)
    await add('element.queue.pause()')
    await becomes('paused')
    expect(await pieces()).to.have.lengthOf(1)
    await throttle(-1)
    await tab.evaluate('performance.clearResourceTimings(); sent.length = 0')
    await tab.evaluate(`${ELEMENT}.queue.resume()`)
    await becomes('done')
    await expectStored()
    expect(await requests()).to.have.members(['upload/direct', 'part 2'])
    expect(Math.min(...((await tab.evaluate('sent')) as number[]))).to.be.at.least(16 * MIB)
    expect(site.links).to.have.length(1)
    expect(await pieces()).to.deep.equal([])
  })

  itLong('continues by itself after a reload in the middle, with the missing part', async () => {
    await open()
    await throttle(8 * MIB)
    await add('location.reload()')
    await eventually(async () => expect(await tab.evaluate('window.sent')).to.equal(undefined))
    await throttle(-1)
    await becomes('done')
    await expectStored()
    expect(await requests()).to.have.members(['upload/direct', 'part 2'])
    expect(site.links).to.have.length(1)
    expect(await tab.evaluate('localStorage.length')).to.equal(0)
  })

  itLong('continues when the network was lost, with the missing part', async () => {
    await open()
    await throttle(4 * MIB)
    await add('performance.clearResourceTimings(); window.isHalf = true')
    await eventually(async () => expect(await tab.evaluate('window.isHalf')).to.equal(true))
    await throttle(-1, true)
    await tab.evaluate('new Promise((done) => setTimeout(done, 1000))')
    expect(await status()).to.equal('uploading')
    await throttle(-1)
    await becomes('done')
    await expectStored()
    expect(await requests()).to.have.members(['upload/direct', 'part 2'])
  })

  itLong('deletes a removed file in the bucket, while it is sent and while it is paused', async () => {
    for (const then of ['element.queue.clear()', 'element.queue.pause()']) {
      await open()
      await throttle(8 * MIB)
      await add(then)
      if (then.includes('pause')) {
        await becomes('paused')
        await tab.evaluate(`${ELEMENT}.queue.clear()`)
      }
      await becomes(undefined)
      await eventually(async () => expect(await pieces()).to.deep.equal([]))
      expect(await tab.evaluate('localStorage.length')).to.equal(0)
    }
  })

  itLong('sends nothing to the bucket with direct="off"', async () => {
    await open('direct="off"')
    await add()
    await becomes('done')
    await expectStored()
    expect(await requests()).to.deep.equal(['tus'])
  })

  itLong(
    'sends the file to the service when the bucket does not name the page, with the same link',
    async () => {
      await forbid()
      try {
        await open('multiple')
        await add()
        await becomes('done')
        await expectStored()
        expect(await requests()).to.include.members(['upload/direct', 'tus'])
        expect(site.links).to.have.length(1)
        // It is not tried again for the next file.
        await tab.evaluate(`${ELEMENT}.queue.clear(); performance.clearResourceTimings()`)
        await add()
        await becomes('done')
        expect(await requests()).to.deep.equal(['tus'])
      } finally {
        forbid = await allowOrigin(site.url)
      }
    },
  )

  itLong('sends the file to the service when the bucket does not respond', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const apart = await start({ env: { S3_DIRECT_ENDPOINT: `http://127.0.0.1:${port}` } })
    try {
      await open('', clientOf(apart))
      await add()
      await becomes('done')
      expect(await requests()).to.include('tus')
    } finally {
      silent.closeAllConnections()
      silent.close()
    }
  })
})
