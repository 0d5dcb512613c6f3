import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import express from 'express'
import { parsePath } from '../../../src/core/files/request-path.ts'
import { fileNotFound } from '../../../src/core/problem.ts'
import { getJob, type Services } from '../../../src/http/delivery/jobs/get.ts'
import { routesOf } from '../../../src/http/endpoint/routes.ts'
import { problemHandler } from '../../../src/http/problem.ts'
import type { MediaJob, MediaJobs } from '../../../src/service/delivery/media-job.ts'
import { eventually } from '../../support/eventually.ts'
import { recordLog } from '../../support/service.ts'

type Routes = Services

const PATH = 'video/mp4/8vMJiMJ5xg1xH6JYSiPjo5.mp4_w%3D80'
const lookEveryMs = 20

describe('followers of a job', () => {
  let job: MediaJob
  let looks: number
  let fails: boolean
  /** From this query on, each finds another progress. */
  let progressFrom: number | undefined
  const closing: Array<() => void> = []
  beforeEach(() => {
    looks = 0
    fails = false
    progressFrom = undefined
    const { full } = parsePath(decodeURIComponent(PATH))
    if (!full) throw new Error('this is no key')
    const status = { state: 'running', attempts: 1, progress: 0.1 } as const
    job = { key: decodeURIComponent(PATH) as MediaJob['key'], original: full, status, isPlayable: false }
  })
  afterEach(() => {
    for (const close of closing.splice(0)) close()
  })

  async function serve(followers: Routes['followers']): Promise<string> {
    const app = express()
    app.set('trust proxy', 1)
    const client = { id: 'first', token: 'token' }
    const clients = { ofToken: () => client } as unknown as Routes['clients']
    const media = {
      async look() {
        looks += 1
        if (fails) throw fileNotFound()
        if (progressFrom === undefined) return job
        return { ...job, status: { ...job.status, progress: (looks - progressFrom) / 10_000 } }
      },
    } as unknown as MediaJobs
    const limits = followers ? { followers } : {}
    const services = { clients, media, baseUrl: 'http://127.0.0.1', lookEveryMs, ...limits }
    app.use(routesOf([getJob], services as unknown as Parameters<typeof routesOf<typeof getJob>>[1]))
    app.use(problemHandler(recordLog()))
    const server = createServer(app).listen(0, '127.0.0.1')
    await new Promise((done) => server.once('listening', done))
    closing.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/jobs/token/${PATH}`
  }

  /** Opens an event stream; `text` grows with what comes. */
  const follow = (url: string, address = '192.0.2.1') =>
    new Promise<{ response: IncomingMessage; text: string }>((opened, failed) => {
      const headers = { Accept: 'text/event-stream', 'X-Forwarded-For': address }
      get(url, { headers, agent: false }, (response) => {
        const stream = { response, text: '' }
        response.on('data', (bytes) => {
          stream.text += bytes
        })
        response.on('error', () => {})
        opened(stream)
      }).on('error', failed)
    })

  it('share one status query per interval, and all receive each change', async () => {
    const url = await serve({ atMost: 100, addressAtMost: 100 })
    const streams = await Promise.all(Array.from({ length: 40 }, () => follow(url)))
    // One each at the beginning, which is the answer to who may not know the job. A stream with queries of its own would not
    // see those of others.
    const before = looks
    progressFrom = before
    await eventually(() => expect(looks).to.be.at.least(before + 6))
    progressFrom = undefined
    job = { ...job, status: { ...job.status, progress: 0.5 } }
    await eventually(() => {
      for (const { text } of streams) expect(text).to.include('"progress":0.5')
    })
    for (const { text } of streams) expect(new Set(text.match(/"progress":0\.0\d+/g)).size).to.be.at.least(3)
    job = { ...job, status: { ...job.status, state: 'done', progress: 1 }, isPlayable: true }
    await eventually(async () => {
      for (const { text, response } of streams) {
        expect(text).to.match(/event: done\ndata: {"state":"done".*}\n\n$/)
        expect(response.complete).to.equal(true)
      }
    })
    const atTheEnd = looks
    await new Promise((done) => setTimeout(done, 3 * lookEveryMs))
    expect(looks).to.equal(atTheEnd)
  })

  it('are limited per address and per process, until some disconnect', async () => {
    const url = await serve({ atMost: 3, addressAtMost: 2 })
    const [first] = [await follow(url), await follow(url)]
    const ofAddress = await follow(url)
    await eventually(async () => expect(ofAddress.response.complete).to.equal(true))
    expect(ofAddress.response.statusCode).to.equal(429)
    expect(ofAddress.response.headers['retry-after']).to.equal('30')
    expect(JSON.parse(ofAddress.text)).to.include({ code: 'too_many_followers', limit: 2 })
    expect((await follow(url, '192.0.2.2')).response.statusCode).to.equal(200)
    const ofProcess = await follow(url, '192.0.2.3')
    expect(ofProcess.response.statusCode).to.equal(503)
    expect(ofProcess.response.headers['retry-after']).to.equal('30')
    // JSON has no place to wait for.
    const asJson = await fetch(url, { headers: { Accept: 'application/json' } })
    expect(await asJson.json()).to.include({ state: 'running' })
    first.response.destroy()
    await eventually(async () => expect((await follow(url)).response.statusCode).to.equal(200))
  })

  it('release their places when a status query fails', async () => {
    const url = await serve({ atMost: 1, addressAtMost: 1 })
    const { response } = await follow(url)
    fails = true
    await eventually(async () => expect(response.destroyed).to.equal(true))
    fails = false
    expect((await follow(url)).response.statusCode).to.equal(200)
  })
})
