import { expect } from 'chai'
import { SluiceError } from '../../../client/index.ts'
import type { StoredUpload, UploadMemory } from '../../../client/uploader/queue/memory.ts'
import type { QueueOptions } from '../../../client/uploader/queue/options.ts'
import { createUploadQueue } from '../../../client/uploader/queue/queue.ts'
import { eventually } from '../../support/eventually.ts'

const LINK = 'https://files.example/v1/upload/sign/a?expirationIn=60'
const MODIFIED = { lastModified: 1_700_000_000_000 }

/** Requests that end when the test says so. */
function heldFetch() {
  const requests = new Map<string, (response: Response) => void>()
  const fetch: typeof globalThis.fetch = (url, init) =>
    new Promise((resolve, reject) => {
      const name = new URL(String(url)).searchParams.get('name') ?? ''
      init?.signal?.addEventListener('abort', () => {
        requests.delete(name)
        reject(init.signal?.reason)
      })
      requests.set(name, resolve)
    })
  return {
    fetch,
    /** Names of the files that are sent. */
    names: () => [...requests.keys()],
    respond(name: string, response = Response.json([{ originalName: name }])) {
      requests.get(name)?.(response)
      requests.delete(name)
    },
  }
}

function problem(status: number, code: string, headers: Record<string, string> = {}): Response {
  return Response.json({ status, code, detail: code }, { status, headers })
}

/** What a page leaves for the next one. */
function memoryOf(uploads: StoredUpload[] = []): UploadMemory & { uploads: Map<string, StoredUpload> } {
  const stored = new Map(uploads.map((upload) => [upload.id, upload]))
  return {
    uploads: stored,
    list: async () => [...stored.values()],
    put: async (upload) => void stored.set(upload.id, upload),
    setPaused() {},
    delete: async (id) => void stored.delete(id),
  }
}

describe('the upload queue', () => {
  const file = (name: string, text = name) => new File([text], name, MODIFIED)
  const start = (options: Partial<QueueOptions> = {}) => {
    const held = heldFetch()
    const events: string[] = []
    const queue = createUploadQueue({
      link: LINK,
      fetch: held.fetch,
      onUploaded: ({ name }) => events.push(`uploaded ${name}`),
      onError: ({ name, error }) => events.push(`failed ${name}: ${error?.code}`),
      ...options,
    })
    const states = () => queue.getState().items.map(({ name, status }) => `${name} ${status}`)
    const idOf = (name: string) => queue.getState().items.find((item) => item.name === name)?.id ?? ''
    const sends = (...names: string[]) =>
      eventually(() => expect(held.names().sort()).to.deep.equal(names.sort()))
    return { ...held, queue, events, states, idOf, sends }
  }

  it('sends three files at the same time, in order', async () => {
    const { queue, sends, respond, states, events } = start()
    queue.add(['a', 'b', 'c', 'd', 'e'].map((name) => file(name)))
    await sends('a', 'b', 'c')
    expect(states().slice(3)).to.deep.equal(['d waiting', 'e waiting'])
    respond('b')
    await sends('a', 'c', 'd')
    expect(events).to.deep.equal(['uploaded b'])
    queue.close()
  })

  it('sends as many files as its option allows, also when it changes', async () => {
    const { queue, sends } = start({ concurrency: 1 })
    queue.add([file('a'), file('b')])
    await sends('a')
    queue.configure({ concurrency: 2 })
    await sends('a', 'b')
    queue.close()
  })

  it('ignores a file that it has, unless it is in another folder', () => {
    const { queue, states } = start()
    queue.add([file('a'), file('a'), { file: file('a'), folder: 'b' }])
    queue.add([file('a')])
    expect(states()).to.have.length(2)
    queue.close()
  })

  it('pauses, resumes and removes files, and sends others in their place', async () => {
    const { queue, sends, states, idOf } = start({ concurrency: 1 })
    queue.add([file('a'), file('b')])
    await sends('a')
    queue.pause(idOf('a'))
    await sends('b')
    expect(states()).to.deep.equal(['a paused', 'b uploading'])
    queue.resume(idOf('a'))
    queue.remove(idOf('b'))
    await sends('a')
    queue.pause()
    await sends()
    queue.resume()
    await sends('a')
    queue.clear()
    expect(queue.getState()).to.include({ isUploading: false, totalBytes: 0 })
    await sends()
  })

  it('waits for the time of a 429, and sends at once when the user retries', async () => {
    const { queue, sends, respond, states, idOf, events } = start()
    queue.add([file('a')])
    await sends('a')
    respond('a', problem(429, 'rate_limited', { 'Retry-After': '300' }))
    await eventually(() => expect(states()).to.deep.equal(['a waiting']))
    const [item] = queue.getState().items
    expect((item?.retryAt ?? 0) - Date.now()).to.be.within(200_000, 300_000)
    expect(item?.error?.code).to.equal('rate_limited')
    expect(events).to.deep.equal([])
    queue.retry(idOf('a'))
    await sends('a')
    queue.close()
  })

  it('fails when the wait would be longer than ten minutes', async () => {
    const { queue, sends, respond, states } = start()
    queue.add([file('a')])
    await sends('a')
    respond('a', problem(429, 'rate_limited', { 'Retry-After': '601' }))
    await eventually(() => expect(states()).to.deep.equal(['a failed']))
  })

  it('retries failed files together, but not refused ones', async () => {
    const { queue, sends, respond, states, events } = start({ maxBytes: 5 })
    queue.add([file('a'), file('b'), file('c'), file('large', 'six by')])
    expect(events).to.deep.equal(['failed large: too_large'])
    await sends('a', 'b', 'c')
    respond('a', problem(500, 'internal'))
    respond('b', problem(415, 'type_not_allowed'))
    respond('c', problem(422, 'file_not_decodable'))
    await eventually(() =>
      expect(states()).to.deep.equal(['a failed', 'b failed', 'c failed', 'large failed']),
    )
    queue.retry()
    await sends('a')
    queue.close()
  })

  it('reports an error of the function for links', async () => {
    const { queue, events } = start({ link: () => Promise.reject(new Error('signed out')) })
    queue.add([file('a')])
    await eventually(() => expect(events).to.deep.equal(['failed a: link_failed']))
    expect(queue.getState().items[0]?.error?.message).to.equal('signed out')
  })

  it('stores unfinished files, and continues them in the next page', async () => {
    const memory = memoryOf()
    const first = start({ memory, concurrency: 2 })
    first.queue.add([file('a'), file('b'), file('c')])
    await first.sends('a', 'b')
    first.respond('a')
    await eventually(() =>
      expect([...memory.uploads.values()].map(({ name }) => name)).to.deep.equal(['b', 'c']),
    )
    first.queue.close()
    const second = start({ memory })
    await second.queue.restore()
    await second.queue.restore()
    expect(second.states()).to.deep.equal(['b uploading', 'c uploading'])
    second.respond('b')
    second.queue.close()
  })

  it('stores a refused file again when the user retries it', async () => {
    const memory = memoryOf()
    const { queue, sends, respond, states } = start({ memory })
    queue.add([file('a')])
    await sends('a')
    respond('a', problem(403, 'forbidden'))
    await eventually(() => expect(states()).to.deep.equal(['a failed']))
    expect(memory.uploads).to.have.property('size', 0)
    queue.retry()
    expect([...memory.uploads.values()].map(({ name }) => name)).to.deep.equal(['a'])
    queue.close()
  })

  it('starts no other file when it is closed, until the user continues', async () => {
    const { queue, sends, states, names } = start({ concurrency: 1 })
    queue.add([file('a'), file('b')])
    await sends('a')
    queue.close()
    await sends()
    queue.configure({ concurrency: 2 })
    expect(states()).to.deep.equal(['a paused', 'b paused'])
    expect(names()).to.deep.equal([])
    queue.resume()
    await sends('a', 'b')
    queue.close()
  })

  it('starts nothing when it is closed while it reads what a previous page has left', async () => {
    const stored = {
      id: '1',
      name: 'a',
      folder: '',
      type: '',
      size: 1,
      isPaused: false,
      storedAt: Date.now(),
    }
    const { queue, states } = start({ memory: memoryOf([{ ...stored, file: file('a'), ...MODIFIED }]) })
    const restored = queue.restore()
    queue.close()
    await restored
    expect(states()).to.deep.equal([])
  })

  it('retries nothing when it is closed and the browser is connected again', async () => {
    const page = new EventTarget()
    Object.assign(globalThis, { addEventListener: page.addEventListener.bind(page) })
    try {
      const { queue, states } = start({
        link: () => Promise.reject(new SluiceError('lost', { code: 'network' })),
      })
      queue.subscribe(() => {})
      queue.add([file('a')])
      await eventually(() => expect(states()).to.deep.equal(['a failed']))
      queue.close()
      page.dispatchEvent(new Event('online'))
      expect(states()).to.deep.equal(['a failed'])
    } finally {
      Reflect.deleteProperty(globalThis, 'addEventListener')
    }
  })

  it('notifies its listeners once when it is closed', () => {
    const { queue, states } = start()
    queue.add([file('a'), file('b')])
    const seen: string[][] = []
    queue.subscribe(() => seen.push(states()))
    queue.close()
    expect(seen).to.deep.equal([['a paused', 'b paused']])
  })

  it('requests no links for files that are removed together', async () => {
    const linked: string[] = []
    const link: QueueOptions['link'] = ({ name }) => {
      linked.push(name)
      return LINK
    }
    const { queue, sends } = start({ link })
    queue.add(Array.from({ length: 100 }, (_, i) => file(`removed ${i}`)))
    queue.clear()
    // Those that were started earlier would request their links earlier.
    queue.add([file('last')])
    await sends('last')
    expect(linked).to.deep.equal(['last'])
    queue.close()
  })

  it('continues a file without stored bytes when the user adds it again', async () => {
    const common = { type: '', size: 5, ...MODIFIED, isPaused: false, storedAt: Date.now() }
    const memory = memoryOf([{ id: '1', name: 'large', folder: 'films', file: undefined, ...common }])
    const { queue, states, sends } = start({ memory })
    await queue.restore()
    expect(states()).to.deep.equal(['large interrupted'])
    queue.add([file('other')])
    await sends('other')
    queue.add([file('large')])
    await sends('large', 'other')
    expect(queue.getState().items.map(({ folder }) => folder)).to.deep.equal(['films', ''])
    queue.close()
  })

  it('has the same state until something changes, and notifies its listeners', () => {
    const { queue } = start()
    let changes = 0
    const stop = queue.subscribe(() => {
      changes += 1
    })
    expect(queue.getState()).to.equal(queue.getState())
    const before = queue.getState()
    queue.add([file('a')])
    expect(queue.getState()).to.not.equal(before)
    expect(changes).to.be.above(0)
    stop()
    const noticed = changes
    queue.clear()
    expect(changes).to.equal(noticed)
  })
})
