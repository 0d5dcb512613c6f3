import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { MIB } from '../heavy.ts'
import { picture } from '../media/images.ts'
import type { RunningServer } from '../servers/process.ts'
import { noise } from '../stored/noise.ts'
import { deleteFile, postFiles, postZip, uploadOne, type WireRecord } from './client.ts'
import { exchange, openSocket } from './exchange.ts'
import { MULTIPART, multipart, postForm } from './multipart.ts'

/** The number of requests for one file, from its upload to its delete. */
export const REQUESTS_PER_FILE = 40

const CALLERS = 10

/**
 * Of everything that clients do, a life of a file after another, some at once: uploads, derivatives that have to be made
 * and that are stored, parts, conditions, refusals, archives, deletes, and clients that leave in the middle.
 *
 * @throws AssertionError for an answer that is not the one due
 */
export async function mixedRequests(server: RunningServer, files: number): Promise<void> {
  const bytes = await picture()
  const large = await uploadOne(server, { name: 'large.bin', bytes: noise(4 * MIB) })
  let left = files
  const caller = async () => {
    while (left-- > 0) await lifeOfAFile(server, { bytes, large: new URL(large.src).pathname })
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  expect((await deleteFile(server, large.s3Path)).status).to.equal(200)
}

async function lifeOfAFile(
  server: RunningServer,
  { bytes, large }: { bytes: Buffer; large: string },
): Promise<void> {
  const file = await uploadOne(server, { name: 'a.png', bytes })
  const path = new URL(file.src).pathname
  const seen: number[] = []
  const ask = async (target: string, headers = {}) =>
    void seen.push((await exchange(server, target, { headers })).status)
  for (let i = 0; i < 4; i += 1) {
    await ask(path)
    await ask(path, { Range: 'bytes=10-99' })
    await ask(path, { Range: 'bytes=0-9,20-29' })
    await ask(path, { 'If-None-Match': '*' })
    await ask(`${path}?w=20`)
    await ask(`${path}?w=-1`)
    await ask(`${path}x`)
  }
  expect(seen).to.deep.equal(Array(4).fill([200, 206, 206, 304, 200, 400, 404]).flat())
  expect(await refusedUploads(server)).to.deep.equal([401, 400, 400, 415])
  expect(await archived(server, file)).to.deep.equal([200, 400])
  await leave(server, `GET ${large} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await leave(server, `GET ${path}?w=30 HTTP/1.1\r\nHost: x\r\n\r\n`)
  await leave(server, halfUpload(server))
  expect((await deleteFile(server, file.s3Path)).status).to.equal(200)
  expect((await exchange(server, path)).status).to.equal(404)
}

/** Without a secret, without a file, not of the grammar, no form. @returns their statuses */
async function refusedUploads(server: RunningServer): Promise<number[]> {
  const unknown = await postFiles(server, [{ name: 'a.txt', bytes: 'text' }], { secret: 'nobody' })
  await unknown.arrayBuffer()
  const refused = [
    await postForm(server, [{ disposition: 'name="text"' }]),
    await postForm(server, Buffer.from('no form')),
    await postForm(server, Buffer.from('{}'), { headers: { 'Content-Type': 'text/plain' } }),
  ]
  return [unknown.status, ...refused.map(({ status }) => status)]
}

/** The file as it is, small, and one that is missing; then one outside of everything. @returns the statuses */
async function archived(server: RunningServer, { sourceName: path }: WireRecord): Promise<number[]> {
  const archive = await postZip(server, {
    files: [{ path }, { path, params: { w: 20 } }, { path: 'none.png' }],
  })
  await archive.arrayBuffer()
  const refused = await postZip(server, { files: [{ path: '../a.png' }] })
  await refused.arrayBuffer()
  return [archive.status, refused.status]
}

/** Sends this on its own connection and disconnects when the response begins, or a moment later. */
async function leave(server: RunningServer, request: string | Buffer): Promise<void> {
  const socket = await openSocket(server)
  socket.on('error', () => {})
  socket.write(request)
  await Promise.race([once(socket, 'data').catch(() => {}), pause(20)])
  socket.resetAndDestroy()
}

function halfUpload({ tokens }: RunningServer): Buffer {
  const head =
    `POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ${tokens.secretClientToken}\r\n` +
    `Content-Type: ${MULTIPART}\r\nContent-Length: 1000000\r\n\r\n`
  const bytes = randomBytes(100_000)
  return Buffer.concat([
    Buffer.from(head),
    multipart([{ disposition: 'name="file"; filename="half.bin"', bytes }], { end: false }),
  ])
}
