import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { FileRef } from '../../../../src/core/files/file-ref.ts'
import { onOneBackend } from '../../../support/backends.ts'
import { eventually } from '../../../support/eventually.ts'
import { openSocket, received } from '../../../support/requests/exchange.ts'
import { MULTIPART, multipart } from '../../../support/requests/multipart.ts'
import type { Service } from '../../../support/service.ts'
import { itLong } from '../../../support/sized.ts'
import { wrapBuckets } from '../../../support/storage.ts'

const MIN = 1000
const STALL_MS = 8000
// Ends the connections of those who are taken.
const SHORT = { KEEP_ALIVE_SECONDS: '1' }

/** A body, how much of it comes in a second, and how much at once in the beginning. */
interface Sending {
  body: Buffer
  bytesPerSecond: number
  atOnce?: number
}

onOneBackend('slow request bodies', (start) => {
  const form = (bytes: number) =>
    multipart([{ disposition: 'name="file"; filename="a.bin"', bytes: Buffer.alloc(bytes) }])
  const json = Buffer.from(`{"files": [${' '.repeat(20_000)}]}`)

  it('get 408 and leave nothing below UPLOAD_MIN_BYTES_PER_SECOND, and are accepted above', async () => {
    const begun: FileRef[] = []
    const service = await start({
      env: { ...SHORT, UPLOAD_MIN_BYTES_PER_SECOND: String(MIN) },
      wrapStorage: ({ buckets, index }) => ({
        buckets,
        index: {
          ...index,
          beginUpload(ref, leaseUntil) {
            begun.push(ref)
            return index.beginUpload(ref, leaseUntil)
          },
        },
      }),
    })
    const slow = { bytesPerSecond: MIN / 10 }
    const sendings: Array<[what: string, path: string, sending: Sending & { chunked?: true }]> = [
      ['a form', '/v1/upload', { body: form(50_000), ...slow }],
      ['a form in chunks', '/v1/upload', { body: form(50_000), ...slow, chunked: true }],
      ['a form that was fast at first', '/v1/upload', { body: form(50_000), ...slow, atOnce: 5 * MIN }],
      ['a form that stops', '/v1/upload', { body: form(50_000), bytesPerSecond: 0, atOnce: 500 }],
      ['JSON', '/v1/zip', { body: json, ...slow }],
    ]
    const refused = sendings.map(async ([what, path, sending]) => {
      const { answer, seconds } = await send(service, path, sending)
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      expect(head, what).to.match(/^HTTP\/1\.1 408 /)
      expect(head, what).to.match(/^content-type: application\/problem\+json\r?$/im)
      expect(head, what).to.match(/^connection: close\r?$/im)
      expect(JSON.parse(body), what).to.include({ code: 'slow_body', minBytesPerSecond: MIN })
      // A grace of five seconds, and a look every second.
      expect(seconds, what).to.be.above(4)
    })
    // 30 s at the least rate: far from it, for a machine that is slow itself.
    const taken = send(service, '/v1/upload', { body: form(30_000), bytesPerSecond: 4 * MIN })
    await Promise.all(refused)
    expect((await taken).answer).to.match(/^HTTP\/1\.1 200 /)

    // What its first 4 KB tell of a file is known before anything is stored: only two have come as far.
    expect(begun).to.have.length(2)
    await eventually(async () => {
      const states = await Promise.all(begun.map((ref) => service.storage.index.find(ref)))
      expect(states.filter(({ original }) => original !== undefined)).to.have.length(1)
      // The one that was taken, and its record.
      expect(await service.objects()).to.have.length(2)
    })
    expect(service.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })

  itLong('are accepted when the bucket is slow, or without a minimum speed', async () => {
    const stalling = await start({
      env: { ...SHORT, UPLOAD_MIN_BYTES_PER_SECOND: String(1024 * 1024) },
      wrapStorage: wrapBuckets((bucket) => ({
        async put(key, ...args) {
          if (!key.startsWith('.sluice/')) await pause(STALL_MS)
          return bucket.put(key, ...args)
        },
      })),
    })
    const patient = await start({ env: { ...SHORT, UPLOAD_MIN_BYTES_PER_SECOND: '0' } })
    const bytes = 2_000_000
    const answers = await Promise.all([
      send(stalling, '/v1/upload', { body: form(bytes), bytesPerSecond: 0, atOnce: bytes + 1000 }),
      send(patient, '/v1/upload', { body: form(700), bytesPerSecond: 90 }),
    ])
    for (const { answer, seconds } of answers) {
      expect(answer).to.match(/^HTTP\/1\.1 200 /)
      expect(seconds).to.be.above(7)
    }
  })
})

/** Sends a body at this speed until the response arrives or the body ends, and waits until the connection closes. */
async function send(
  service: Service,
  path: string,
  { body, bytesPerSecond, atOnce = 0, chunked = false }: Sending & { chunked?: boolean },
): Promise<{ answer: string; seconds: number }> {
  const socket = await openSocket(service)
  const answer = received(socket)
  const startedAt = performance.now()
  const secondsSince = () => (performance.now() - startedAt) / 1000
  const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
      `Content-Type: ${path === '/v1/zip' ? 'application/json' : MULTIPART}\r\n${framing}\r\n\r\n`,
  )
  let sent = 0
  const more = () => {
    const until = Math.min(body.length, atOnce + Math.floor(secondsSince() * bytesPerSecond))
    if (until === sent || socket.destroyed) return
    const bytes = body.subarray(sent, until)
    sent = until
    if (chunked) socket.write(`${bytes.length.toString(16)}\r\n`)
    socket.write(bytes)
    if (chunked) socket.write('\r\n')
  }
  more()
  const sending = setInterval(more, 50)
  const text = await answer.finally(() => clearInterval(sending))
  return { answer: text, seconds: secondsSince() }
}
