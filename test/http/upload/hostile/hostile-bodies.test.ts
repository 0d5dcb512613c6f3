import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { stoppedAtTheEnd } from '../../../support/backends.ts'
import { postFiles } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { type Service, startService } from '../../../support/service.ts'
import { sized } from '../../../support/sized.ts'

const MANY = 'expected a JSON body of at most 10000 values in at most 32 levels but received more'
const KIB = 1024
const MIB = 1024 * KIB

/** A body of just that many bytes, filled up with the piece. */
function filled(begin: string, piece: string, { end, bytes }: { end: string; bytes: number }): Buffer {
  const times = Math.floor((bytes - begin.length - end.length) / piece.length)
  return Buffer.from(`${begin}${piece.repeat(times).slice(0, -1)}${end}`)
}

const listed = (name: string, piece: string, times: number) =>
  Buffer.from(`{"${name}":[${Array(times).fill(piece).join(',')}]}`)

const members = (times: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: times }, (_, i) => [`p${i}`, null])))

/** Whether the time is measured for which other requests wait. */
const MEASURES = sized(false, true)

describe('small JSON bodies that are expensive to validate', () => {
  const start = stoppedAtTheEnd(startService)
  let service: Service
  let limitMs: number
  before(async () => {
    service = await start()
    // What is refused unparsed takes a fiftieth, the most costly of the rest a tenth.
    limitMs = parsingMs() / 3
  })

  const post = async (path: string, body: Buffer) => {
    const { secretClientToken: Authorization } = service.tokens
    const headers = { Authorization, 'Content-Type': 'application/json', 'Content-Length': body.length }
    return exchange(service, path, { method: 'POST', headers, body })
  }

  /** How long this machine, as busy as it is, takes to make the values of the largest body. */
  function parsingMs(): number {
    const text = filled('[', '0,', { end: ']', bytes: MIB }).toString()
    const times = Array.from({ length: 3 }, () => {
      const startedAt = performance.now()
      JSON.parse(text, (_, value) => value)
      return performance.now() - startedAt
    })
    return Math.min(...times)
  }

  /** How long everybody else had to wait, at most. */
  async function blockedMs(work: () => Promise<unknown>): Promise<number> {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    // It measures from one of its ticks to the next: one has to come before the work, and one after.
    await pause(5)
    await work()
    await pause(5)
    delay.disable()
    return delay.max / 1e6
  }

  // Compares with measured time, so it is left to the long tests.
  if (MEASURES)
    it('would block other requests, and the test notices it', async () => {
      expect(await blockedMs(async () => void parsingMs())).to.be.above(3 * limitMs)
    })

  const [paths, types] = [
    'an array of 1 to 1000 paths for paths',
    'an array of 1 to 50 media types for types',
  ]
  for (const [what, path, body, detail] of [
    ['zeros for paths', '/v1/files/delete', filled('{"paths":[', '0,', { end: ']}', bytes: MIB }), MANY],
    ['objects for paths', '/v1/files/restore', filled('{"paths":[', '{},', { end: ']}', bytes: MIB }), MANY],
    [
      '9000 zeros for paths',
      '/v1/files/delete',
      listed('paths', '0', 9000),
      `${paths} but received "9000 items"`,
    ],
    ['1000 zeros for paths', '/v1/files/delete', listed('paths', '0', 1000), 'a path for paths[0] but'],
    [
      'numbers for types',
      '/v1/sign',
      filled('{"expiresIn":9,"types":[', '0,', { end: ']}', bytes: 64 * KIB }),
      MANY,
    ],
    [
      '9000 numbers for types',
      '/v1/sign',
      Buffer.from(`{"expiresIn":9,${listed('types', '0', 9000).subarray(1)}`),
      `${types} but received "9000 items"`,
    ],
    [
      '70,000 parameters',
      '/v1/zip',
      Buffer.from(`{"files":[{"path":"a","params":${members(70_000)}}]}`),
      MANY,
    ],
    [
      '51 parameters',
      '/v1/zip',
      Buffer.from(`{"files":[{"path":"a","params":${members(51)}}]}`),
      'an object of at most 50 parameters for files[0].params',
    ],
    [
      '50 wrong parameters of each of 100 files',
      '/v1/zip',
      listed('files', `{"path":"a","params":${members(50)}}`, 100),
      'a string, a number, true or false for files[0].params.p0',
    ],
    [
      '9000 items',
      '/v1/zip',
      listed('files', '0', 9000),
      'an array of 1 to 100 items for files but received "9000 items"',
    ],
    ['tags', '/v1/upload', filled('{"url":"http://a","tags":[', '0,', { end: ']}', bytes: 256 * KIB }), MANY],
    ['arrays in arrays', '/v1/upload', filled('{"tags":', '[', { end: '', bytes: 256 * KIB }), MANY],
  ] as const) {
    it(`are refused without blocking other requests: ${what}`, async () => {
      const refused = async () => {
        const answer = await post(path, body)
        expect(answer.status).to.equal(400)
        expect(jsonOf(answer).detail).to.include(detail)
      }
      if (!MEASURES) return refused()
      // The machine may be at something else, too.
      const waits: number[] = []
      for (let i = 0; i < 3; i += 1) waits.push(await blockedMs(refused))
      expect(Math.min(...waits)).to.be.below(limitMs)
    })
  }

  it('are refused when they nest in the fields of a form', async () => {
    const nested = '['.repeat(8000) + ']'.repeat(8000)
    for (const [name, value] of [
      ['tags', `[${nested}]`],
      ['metadata', `{"a":${nested}}`],
      ['transforms', `[${nested}]`],
    ] as const) {
      const form = new FormData()
      form.append(name, value)
      form.append('file', new Blob(['a']), 'a.txt')
      const { status, body } = await exchange(service, '/v1/upload', await sent(form))
      expect([name, status]).to.deep.equal([name, 400])
      expect(jsonOf({ body })).to.include({ code: 'bad_parameter', received: `${'['.repeat(100)}…` })
    }
    expect((await postFiles(service, [{ name: 'a.txt', bytes: 'a' }])).status).to.equal(200)
  })

  async function sent(form: FormData) {
    const request = new Request('http://a', { method: 'POST', body: form })
    const headers = {
      Authorization: service.tokens.secretClientToken,
      'Content-Type': request.headers.get('content-type') ?? '',
    }
    return { method: 'POST', headers, body: Buffer.from(await request.arrayBuffer()) }
  }
})
