import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect } from 'chai'
import express from 'express'
import { serializePipelined } from '../../../src/http/connection/pipelining.ts'
import { inPortions } from '../../../src/http/connection/portions.ts'
import { isHealthCheck } from '../../../src/http/system/health.ts'
import { eventually } from '../../support/eventually.ts'

describe('requests that arrive in one turn of the event loop', () => {
  let server: Server
  let turns: Array<() => void>
  let begun: string[]
  let sockets: Socket[]
  beforeEach(async () => {
    turns = []
    begun = []
    sockets = []
    server = await serving((req, res) => {
      begun.push(req.url ?? '')
      res.end(req.url)
    })
  })
  afterEach(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  /** @returns a server that has begun what it may until {@link turn} is called */
  async function serving(handle: RequestListener): Promise<Server> {
    const app = express()
    app.use(serializePipelined)
    app.use(inPortions({ isUrgent: isHealthCheck, later: (turn) => turns.push(turn) }))
    app.use(handle)
    const one = createServer(app).listen(0, '127.0.0.1')
    await once(one, 'listening')
    return one
  }
  /** The event loop has come round. @returns whether it had something to do */
  function turn(): boolean {
    const due = turns.splice(0)
    for (const one of due) one()
    return due.length > 0
  }
  /** Sends requests on a connection of their own. @returns all that was answered until now */
  function send(...paths: string[]): { answers: () => string[]; socket: Socket } {
    let text = ''
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    sockets.push(socket)
    socket.setEncoding('utf8').on('data', (more) => {
      text += more
    })
    for (const path of paths) socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    return { answers: () => [...text.matchAll(/\r\n\r\n(\/[^H]*)/g)].map(([, body]) => body ?? ''), socket }
  }
  /** One connection for each, in this order, once the server has read all of them. */
  async function arrive(count: number, pathOf = (i: number) => `/${i}`): Promise<Socket[]> {
    const all: Socket[] = []
    for (let i = 0; i < count; i += 1) {
      const read = once(server, 'request')
      all.push(send(pathOf(i)).socket)
      await read
    }
    return all
  }
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `/${from + i}`)

  it('begin 32 at a time, in the order of arrival', async () => {
    await arrive(70)
    expect(begun).to.deep.equal(numbers(0, 32))
    expect(turn()).to.equal(true)
    expect(begun).to.deep.equal(numbers(0, 64))
    turn()
    expect(begun).to.deep.equal(numbers(0, 70))
  })

  it('begin at once when they are few, and leave an empty queue', async () => {
    await arrive(3)
    expect(begun).to.deep.equal(numbers(0, 3))
    turn()
    expect(turn()).to.equal(false)
  })

  it('wait behind the requests that already wait', async () => {
    await arrive(66)
    turn()
    await arrive(1, () => '/late')
    expect(begun).to.have.length(64)
    turn()
    expect(begun.slice(64)).to.deep.equal(['/64', '/65', '/late'])
  })

  it('do not delay up to 32 health checks', async () => {
    await arrive(40)
    await arrive(40, (i) => (i % 2 ? '/healthz' : '/readyz?a'))
    expect(begun.slice(32)).to.have.length(32)
    expect(begun.slice(32).every((path) => !/\d/.test(path))).to.equal(true)
    turn()
    expect(begun.slice(64, 72).every((path) => !/\d/.test(path))).to.equal(true)
    expect(begun.slice(72)).to.deep.equal(numbers(32, 40))
  })

  it('are not handled when their client has disconnected', async () => {
    const all = await arrive(34)
    all[32]?.destroy()
    await eventually(async () => expect(await connections(server)).to.equal(33))
    turn()
    expect(begun.slice(32)).to.deep.equal(['/33'])
  })

  it('do not count when their client has disconnected', async () => {
    const all = await arrive(96)
    for (const socket of all.slice(32, 64)) socket.destroy()
    await eventually(async () => expect(await connections(server)).to.equal(64))
    turn()
    expect(begun.slice(32)).to.deep.equal(numbers(64, 96))
  })

  it('get responses in order on one connection, also with a health check', async () => {
    await arrive(32)
    let requests = 0
    const read = eventually(() => expect(requests).to.equal(3))
    server.on('request', () => {
      requests += 1
    })
    const { answers } = send('/first', '/healthz', '/last')
    await read
    expect(begun).to.have.length(32)
    turn()
    await eventually(() => expect(answers()).to.deep.equal(['/first', '/healthz', '/last']))
    expect(begun.slice(32)).to.deep.equal(['/first', '/healthz', '/last'])
  })

  it('keep a body that arrives before they begin', async () => {
    const bodies: string[] = []
    server.close()
    server = await serving(async (req, res) => {
      begun.push(req.url ?? '')
      if (req.method === 'POST') bodies.push(await textOf(req))
      res.end()
    })
    await arrive(32)
    const read = once(server, 'request')
    const { socket } = send()
    socket.write('POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc')
    await read
    socket.write('def')
    turn()
    await eventually(() => expect(bodies).to.deep.equal(['abcdef']))
  })
})

function connections(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
}

async function textOf(req: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of req) text += chunk
  return text
}
