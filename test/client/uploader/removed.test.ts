import { expect } from 'chai'
import { createClient, type SluiceClient, uploadToLink } from '../../../client/index.ts'
import type { QueueOptions } from '../../../client/uploader/queue/options.ts'
import { createUploadQueue } from '../../../client/uploader/queue/queue.ts'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { memoryStore } from '../../support/requests/tus.ts'
import type { Service } from '../../support/service.ts'
import { noise } from '../../support/stored/noise.ts'

onOneBackend('an upload that the user removes', (start) => {
  let service: Service
  let client: SluiceClient
  const bytes = noise(4000)
  const file = () => new File([bytes], 'a.bin', { lastModified: 1_700_000_000_000 })
  before(async () => {
    service = await start()
    client = createClient({ baseUrl: service.url, secret: service.tokens.secretClientToken })
  })

  const parts = async () => (await service.objects()).filter((name) => name.includes('.sluice/tus/pieces/'))

  /** A queue whose upload stops after its first chunk, and its link, which is for one file. */
  async function halfSent(options: Partial<QueueOptions> = {}) {
    const { url } = await client.links.create({ expiresIn: 60, uses: 1 })
    const store = memoryStore()
    const sent: string[] = []
    const holding: typeof globalThis.fetch = async (target, init) => {
      const method = init?.method ?? 'GET'
      sent.push(method)
      if (sent.filter((one) => one === 'PATCH').length > 1 && method === 'PATCH')
        await new Promise((_, reject) =>
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
        )
      return fetch(target, init)
    }
    const queue = createUploadQueue({
      link: url,
      fetch: holding,
      resume: store,
      resumableFromBytes: 1,
      chunkBytes: 1024,
      ...options,
    })
    queue.add([file()])
    await eventually(() => expect(queue.getState().sentBytes).to.equal(1024))
    await eventually(() => expect(sent.filter((method) => method === 'PATCH')).to.have.length(2))
    return { queue, store, url, id: queue.getState().items[0]?.id ?? '' }
  }

  /** The link is free, and no bytes are left. */
  async function expectDeleted(url: string, store: { urls: Map<string, string> }): Promise<void> {
    await eventually(async () => {
      const { size } = await uploadToLink(url, file(), { resumableFromBytes: 1, retries: false })
      expect(size).to.equal(bytes.length)
    })
    expect(store.urls.size).to.equal(0)
    expect(await parts()).to.deep.equal([])
  }

  for (const [when, prepare] of [
    ['while it is sent', () => {}],
    ['while it is paused', (queue) => queue.pause()],
  ] as Array<[string, (queue: ReturnType<typeof createUploadQueue>) => void]>)
    it(`is deleted in the service ${when}`, async () => {
      const { queue, store, url, id } = await halfSent()
      expect(await parts()).not.to.deep.equal([])
      expect(await rejection(uploadToLink(url, file(), { resumableFromBytes: 1 }))).to.include({
        code: 'link_busy',
      })
      prepare(queue)
      queue.remove(id)
      await expectDeleted(url, store)
    })

  it('is deleted in the service by the next page, which has only its name', async () => {
    const { queue, store, url } = await halfSent()
    queue.close()
    const { name, size, type, lastModified } = file()
    const left = { id: '1', name, size, type, lastModified, folder: '', file: undefined }
    const memory = {
      list: async () => [{ ...left, isPaused: false, storedAt: Date.now() }],
      put: async () => {},
      setPaused() {},
      delete: async () => {},
    }
    const next = createUploadQueue({ link: url, resume: store, memory })
    await next.restore()
    next.clear()
    await expectDeleted(url, store)
  })

  it('is deleted in the service without a store of its URL', async () => {
    const { queue, store, url } = await halfSent({ resume: false })
    queue.clear()
    await expectDeleted(url, store)
  })

  it('remains when the page is closed, so that the next one continues it', async () => {
    const { queue, store } = await halfSent()
    queue.close()
    expect(await parts()).not.to.deep.equal([])
    expect(store.urls.size).to.equal(1)
  })

  it('remains as a file when it was stored before', async () => {
    const { url } = await client.links.create({ expiresIn: 60 })
    const store = memoryStore()
    const queue = createUploadQueue({ link: url, resume: store, resumableFromBytes: 1 })
    queue.add([file()])
    await eventually(() => expect(queue.getState().items[0]?.status).to.equal('done'))
    const [item] = queue.getState().items
    queue.clear()
    expect((await fetch(String(item?.record?.src))).status).to.equal(200)
  })
})
