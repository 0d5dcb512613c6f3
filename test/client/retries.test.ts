import { expect } from 'chai'
import { retryAfterSeconds } from '../../client/http/problem.ts'
import { type RetryOptions, waitAsAsked, withRetries } from '../../client/http/retry.ts'
import { createClient, SluiceError } from '../../client/index.ts'
import { rejection } from '../support/rejection.ts'

/** Attempts that fail with these errors, then succeed. Time passes only in pauses. */
async function tried(
  errors: readonly unknown[],
  {
    isIdempotent = true,
    limitMs = 60_000,
    stepMs = 0,
    ...more
  }: Partial<RetryOptions> & { stepMs?: number } = {},
) {
  const pauses: number[] = []
  let attempts = 0
  let time = 0
  const outcome = withRetries(
    async () => {
      time += stepMs
      const error = errors[attempts]
      attempts += 1
      if (error !== undefined) throw error
      return 'done'
    },
    {
      ...more,
      isIdempotent,
      limitMs,
      now: () => time,
      random: () => 1,
      pause: async (ms) => {
        pauses.push(ms)
        time += ms
      },
    },
  )
  const result = await outcome.catch((error: unknown) => error)
  return { result, attempts, pauses }
}

const failed = (fields: Partial<SluiceError>) =>
  new SluiceError('no', { code: 'x', ...fields } as { code: string })
const problem = { code: 'unavailable' }

describe('retries of the client library', () => {
  it('wait as long as Retry-After requests', async () => {
    const errors = [
      failed({ status: 429, retryAfter: 3, problem }),
      failed({ status: 503, retryAfter: 7, problem }),
    ]
    const { result, pauses } = await tried(errors, { isIdempotent: false })
    expect({ result, pauses }).to.deep.equal({ result: 'done', pauses: [3000, 7000] })
  })

  it('never become a busy loop', async () => {
    const { pauses } = await tried(Array(3).fill(failed({ status: 429, retryAfter: 0 })))
    expect(pauses).to.deep.equal([250, 500, 1000])
  })

  it('end with the last error when the time is over', async () => {
    const error = failed({ status: 503, retryAfter: 40 })
    expect(await tried(Array(9).fill(error))).to.deep.equal({ result: error, attempts: 2, pauses: [40_000] })
    expect(await tried([error], { limitMs: 0 })).to.deep.equal({ result: error, attempts: 1, pauses: [] })
  })

  it('have the whole time after the first failure of a long transfer', async () => {
    const lost = failed({ code: 'network' })
    const long = { limitMs: 1000, stepMs: 5000 }
    expect(await tried([lost], long)).to.include({ result: lost, attempts: 1 })
    expect(await tried([lost], { ...long, fromFailure: true })).to.include({ result: 'done', attempts: 2 })
    expect(await tried([lost, lost], { ...long, fromFailure: true })).to.include({ attempts: 2 })
  })

  it('are left to a caller that waits for a busy service', async () => {
    const busy = failed({ status: 429, retryAfter: 1, problem })
    expect(await tried([busy], { waits: false })).to.include({ result: busy, attempts: 1 })
    expect(await tried([failed({ code: 'network' })], { waits: false })).to.include({ attempts: 2 })
  })

  for (const [header, pauseMs] of [
    ['7', 7000],
    ['0', 1000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 1000],
    ['soon', 2000],
    [undefined, 2000],
  ] as const)
    it(`poll after ${pauseMs} ms when Retry-After is ${header}`, async () => {
      const pauses: number[] = []
      const response = new Response(null, header === undefined ? {} : { headers: { 'Retry-After': header } })
      await waitAsAsked(response, undefined, async (ms) => void pauses.push(ms))
      expect(pauses).to.deep.equal([pauseMs])
    })

  const cases: [title: string, error: unknown, ifIdempotent: number, otherwise: number][] = [
    ['a lost connection', failed({ code: 'network' }), 2, 1],
    ['a 502 of a proxy', failed({ status: 502 }), 2, 1],
    ['a 503 of Sluice without Retry-After', failed({ status: 503, problem }), 1, 1],
    ['a 503 with Retry-After', failed({ status: 503, retryAfter: 1, problem }), 2, 2],
    ['a 404', failed({ status: 404, problem }), 1, 1],
    ['a 500', failed({ status: 500, problem }), 1, 1],
    ['an abort', new DOMException('stop', 'AbortError'), 1, 1],
  ]
  for (const [title, error, ifIdempotent, otherwise] of cases)
    it(`repeat ${title} ${ifIdempotent === otherwise ? 'or not, for any request' : 'only for idempotent requests'}`, async () => {
      expect((await tried([error])).attempts).to.equal(ifIdempotent)
      expect((await tried([error], { isIdempotent: false })).attempts).to.equal(otherwise)
    })

  it('read Retry-After as seconds or as a date', () => {
    const now = Date.UTC(2026, 0, 1, 12, 0, 0)
    const read = (header: string | null) => retryAfterSeconds(header, now)
    expect(read('120')).to.equal(120)
    expect(read('Thu, 01 Jan 2026 12:00:30 GMT')).to.equal(30)
    expect(read('Thu, 01 Jan 2026 11:00:00 GMT')).to.equal(0)
    expect(read('soon')).to.equal(undefined)
    expect(read(null)).to.equal(undefined)
  })
})

describe('a request of the client library', () => {
  const answering = (answer: (url: string, init: RequestInit) => Response | Promise<Response>) =>
    createClient({
      baseUrl: 'http://127.0.0.1:9',
      secret: 'sec_x',
      fetch: (async (url: string, init: RequestInit) => answer(url, init)) as typeof fetch,
      timeoutMs: 300,
    })

  it('fails with all that a problem states', async () => {
    const body = {
      code: 'rate_limited',
      detail: 'Too many.',
      title: 'Too Many Requests',
      instance: 'id-1',
      limit: 'zip',
    }
    const { usage } = answering(() => Response.json(body, { status: 429, headers: { 'Retry-After': '9' } }))
    const error = (await rejection(usage())) as SluiceError
    expect(error).to.be.instanceOf(SluiceError).and.instanceOf(Error)
    const { status, code, detail, title, requestId, retryAfter, message, name } = error
    expect({ status, code, detail, title, requestId, retryAfter, message, name }).to.deep.equal({
      ...{ status: 429, code: 'rate_limited', detail: 'Too many.', title: 'Too Many Requests' },
      ...{ requestId: 'id-1', retryAfter: 9, message: 'Too many.', name: 'SluiceError' },
    })
    expect(error.problem).to.deep.equal(body)
  })

  it('fails with the status of another program, and with what is not JSON', async () => {
    const proxy = answering(() => new Response('<h1>Bad Gateway</h1>', { status: 404 }))
    expect(await rejection(proxy.usage())).to.include({ status: 404, code: 'http_404', problem: undefined })
    const page = answering(() => new Response('<h1>Welcome</h1>'))
    expect(await rejection(page.usage())).to.include({ status: 200, code: 'bad_response' })
  })

  it('fails when no response comes in time, and when the connection is lost', async () => {
    const never = answering((_url, { signal }) => {
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    })
    expect(await rejection(never.usage())).to.include({ status: 0, code: 'timeout' })
    const lost = answering(() => Promise.reject(new TypeError('fetch failed')))
    expect(await rejection(lost.usage())).to.include({ status: 0, code: 'network' })
  })

  it('rejects with the reason of its signal', async () => {
    const { usage } = answering(() =>
      Response.json({ code: 'x' }, { status: 503, headers: { 'Retry-After': '0' } }),
    )
    expect(await rejection(usage({ signal: AbortSignal.abort('before') }))).to.equal('before')
    const controller = new AbortController()
    const outcome = rejection(usage({ signal: controller.signal }))
    controller.abort('in between')
    expect(await outcome).to.equal('in between')
  })

  it('deletes a folder in as many requests as needed, and stops when nothing can be deleted', async () => {
    const done = { path: 'a', status: 'deleted' }
    const failure = { path: 'b', status: 'error', code: 'unavailable', detail: '' }
    const pages = [[done], [done, failure], [failure], [done]]
    let requests = 0
    const { files } = answering(() => {
      requests += 1
      return Response.json({ results: pages[requests - 1], more: true })
    })
    expect(await files.deleteMany({ prefix: 'old' })).to.deep.equal([done, done, failure, failure])
    expect(requests).to.equal(3)
  })

  it('follows the cursor of a list of folders', async () => {
    const urls: string[] = []
    const { folders } = answering((url, { headers }) => {
      urls.push(url)
      expect(headers).to.include({ Authorization: 'Bearer sec_x' })
      const [cursor, name] = url.includes('cursor=') ? [null, 'b'] : ['n&xt', 'a']
      return Response.json({
        folders: [{ name, path: `shop/${name}`, files: 2, directFiles: 1, bytes: 9 }],
        cursor,
      })
    })
    const names: string[] = []
    for await (const { name } of folders.list({ prefix: 'shop' })) names.push(name)
    expect(names).to.deep.equal(['a', 'b'])
    const first = 'http://127.0.0.1:9/v1/folders?prefix=shop'
    expect(urls).to.deep.equal([first, `${first}&cursor=n%26xt`])
  })

  it('refuses an address that is no URL', () => {
    for (const baseUrl of ['', 'files.example', 'ftp://x'])
      expect(() => createClient({ baseUrl }), baseUrl).to.throw(TypeError, 'expected an http or https URL')
  })
})
