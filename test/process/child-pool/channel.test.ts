import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect } from 'chai'
import { assetFromBytes, readAll } from '../../../src/core/bytes/asset.ts'
import { headOf, receiveFile, sendFile } from '../../../src/process/child-pool/channel.ts'
import { rejection } from '../../support/rejection.ts'

const asset = (size: number) =>
  assetFromBytes(Buffer.alloc(size, 7), { mediaType: 'image/png', lastModified: new Date(0) })
const signal = new AbortController().signal

describe('the channel between two processes', () => {
  let near: Socket
  let far: Socket

  beforeEach(async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const accepted = once(server, 'connection')
    near = connect((server.address() as { port: number }).port, '127.0.0.1')
    near.on('error', () => {})
    ;[far] = (await accepted) as [Socket]
    far.on('error', () => {})
    server.close()
  })

  afterEach(() => {
    near.destroy()
    far.destroy()
  })

  it('transfers any number of files, one after the other, without leaking listeners', async () => {
    const listeners = () => near.eventNames().map((name) => [name, near.listenerCount(name)])
    const before = listeners()
    for (const size of [0, 1, 3_000_000, 100, 0, 2_000_000]) {
      const received = receiveFile(far, headOf(asset(size)))
      await sendFile(near, asset(size), { signal })
      expect(await readAll(await received, signal)).to.deep.equal(Buffer.alloc(size, 7))
    }
    expect(listeners()).to.deep.equal(before)
  })

  it('aborts a transfer when the other process ends', async () => {
    const sent = rejection(sendFile(near, asset(50_000_000), { signal }))
    await once(far, 'readable')
    far.destroy()
    expect(await sent).to.be.an('error')
  })

  it('aborts a transfer when its signal aborts', async () => {
    const wanted = new AbortController()
    const sent = rejection(sendFile(near, asset(50_000_000), { signal: wanted.signal }))
    await once(far, 'readable')
    wanted.abort(new Error('nobody waits'))
    expect(await sent).to.include({ message: 'nobody waits' })
  })
})
