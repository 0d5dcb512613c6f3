import { expect } from 'chai'
import { createClient } from '../../client/index.ts'
import { browserStore } from '../../client/upload/resume-store.ts'
import { rejection } from '../support/rejection.ts'
import { memoryStore } from '../support/requests/tus.ts'

const RECORD = [{ originalName: 'a.bin' }]
const file = (name = 'a.bin') => new File(['0123456789'], name, { lastModified: 1_700_000_000_000 })

/** A page of the console, for a service that refuses these requests once. */
function page({ refused, clientId }: { refused?: string; clientId?: string }) {
  const requests: string[] = []
  let isRefused = refused !== undefined
  const answer = (method: string, offset: number): Response => {
    if (method === 'POST') return new Response(null, { status: 201, headers: { Location: '/v1/tus/id' } })
    if (method === 'HEAD')
      return new Response(null, { headers: { 'Upload-Offset': '4', 'Upload-Length': '10' } })
    if (method === 'DELETE') return new Response(null, { status: 204 })
    const headers = { 'Upload-Offset': String(offset + 4) }
    if (method === 'PATCH' && offset + 4 < 10) return new Response(null, { status: 204, headers })
    return Response.json(RECORD, { headers: { 'Upload-Record': JSON.stringify(RECORD) } })
  }
  const { files } = createClient({
    baseUrl: 'https://files.example/sluice',
    session: { ...(clientId === undefined ? {} : { clientId }) },
    fetch: async (url, { method = 'GET', headers } = {}) => {
      const { 'Upload-Offset': offset } = headers as Record<string, string>
      const request = `${method} ${new URL(String(url)).pathname}${offset === undefined ? '' : ` ${offset}`}`
      requests.push(request)
      if (isRefused && request === refused) {
        isRefused = false
        return Response.json({ code: 'rate_limited' }, { status: 429, headers: { 'Retry-After': '0' } })
      }
      return answer(method, Number(offset))
    },
  })
  return { files, requests }
}

describe('an upload of the client library to a busy service', () => {
  for (const retries of [true, false])
    it(`${retries ? 'is sent again' : 'fails without retries'}`, async () => {
      const { files, requests } = page({ refused: 'PUT /sluice/v1/upload/a.bin' })
      const sent = files.upload(file(), { retries, resume: false })
      if (retries) expect(await sent).to.deep.equal(RECORD[0])
      else expect(await rejection(sent)).to.include({ status: 429, retryAfter: 0 })
      expect(requests).to.deep.equal(Array(retries ? 2 : 1).fill('PUT /sluice/v1/upload/a.bin'))
    })

  it('fails without retries between two chunks, and resumes later', async () => {
    const resume = memoryStore()
    const { files, requests } = page({ refused: 'PATCH /sluice/v1/tus/id 4' })
    const upload = () =>
      files.upload(file(), { resumableFromBytes: 1, direct: false, chunkBytes: 4, resume, retries: false })
    expect(await rejection(upload())).to.include({ status: 429, retryAfter: 0 })
    expect(resume.urls).to.have.property('size', 1)
    requests.length = 0
    expect(await upload()).to.include(RECORD[0])
    expect(requests).to.deep.equal([
      'HEAD /sluice/v1/tus/id',
      'PATCH /sluice/v1/tus/id 4',
      'PATCH /sluice/v1/tus/id 8',
    ])
    expect(resume.urls).to.have.property('size', 0)
  })

  it('is deleted by discardUpload, but not one of another client or folder', async () => {
    const resume = memoryStore()
    const one = page({ refused: 'PATCH /sluice/v1/tus/id 4', clientId: 'one' })
    const options = { resumableFromBytes: 1, direct: false, chunkBytes: 4, resume, retries: false }
    await rejection(one.files.upload(file(), { ...options, folder: 'a' }))
    one.requests.length = 0
    const two = page({ clientId: 'two' })
    await two.files.discardUpload(file(), { resume, folder: 'a' })
    await one.files.discardUpload(file(), { resume })
    await one.files.discardUpload(file('b.bin'), { resume, folder: 'a' })
    expect([...one.requests, ...two.requests]).to.deep.equal([])
    await one.files.discardUpload(file(), { resume, folder: 'a' })
    expect(one.requests).to.deep.equal(['DELETE /sluice/v1/tus/id'])
    expect(resume.urls).to.have.property('size', 0)
  })
})

/** What localStorage is in a page: its keys are those of the object. */
class PageStorage {
  [key: string]: unknown
  getItem(key: string) {
    return this[key] ?? null
  }
  setItem(key: string, value: string) {
    this[key] = value
  }
  removeItem(key: string) {
    delete this[key]
  }
}

describe('the localStorage of unfinished uploads', () => {
  const names = ['document', 'localStorage'] as const
  const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name))
  afterEach(() => {
    for (const [i, name] of names.entries()) {
      Reflect.deleteProperty(globalThis, name)
      if (before[i]) Object.defineProperty(globalThis, name, before[i])
    }
  })

  it('forgets what is older than a week, and nothing of the page', async () => {
    const week = 7 * 24 * 3_600_000
    const kept = {
      'sluice-upload:new': `${Date.now() - week + 60_000} new`,
      'sluice-upload:of version 1.0': '{"url":"https://files.example/v1/tus/a"}',
      other: '1',
    }
    const storage = Object.assign(new PageStorage(), kept, {
      'sluice-upload:old': `${Date.now() - week - 1} old`,
    })
    for (const [name, value] of Object.entries({ document: {}, localStorage: storage }))
      Object.defineProperty(globalThis, name, { value, configurable: true })
    const store = browserStore()
    await store?.set('next', 'https://files.example')
    expect(await store?.get('next')).to.equal('https://files.example')
    expect(await store?.get('of version 1.0')).to.equal(kept['sluice-upload:of version 1.0'])
    await store?.delete('next')
    expect({ ...storage }).to.deep.equal(kept)
  })
})
