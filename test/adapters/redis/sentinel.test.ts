import { connect, createServer, type Server } from 'node:net'
import { expect } from 'chai'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { Problem } from '../../../src/core/problem.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { freePort } from '../../support/servers/free-port.ts'
import { startWatchedRedis, type WatchedRedis } from '../../support/servers/sentinels.ts'
import { itLong, sized } from '../../support/sized.ts'
import { failOnUnhandledRejection } from '../../support/unhandled.ts'

describe('a connection to a Redis that Sentinels watch', function () {
  this.timeout(200_000)
  failOnUnhandledRejection()
  let watched: WatchedRedis
  let redis: RedisConnection
  const others: Server[] = []
  // In `npm test`, the last test is the only one after which the primary is another one.
  const begin = sized(before, beforeEach)
  const end = sized(after, afterEach)
  begin(async () => {
    watched = await startWatchedRedis()
    redis = connectRedis({ url: watched.url })
    await redis.ready()
  })
  end(async () => {
    await redis?.close()
    await watched?.remove()
    for (const server of others.splice(0)) server.close()
  })

  const written = (value: string, to = redis) => to.send((client) => client.set('key', value))
  const replicated = async () => expect(await redis.send((client) => client.wait(1, 5000))).to.equal(1)
  /** The port of the server at the other end. */
  const portOf = (of: RedisConnection) =>
    of.send(async (client) => Number(((await client.config('GET', 'port')) as string[])[1]))

  it('is not led astray by what is no Sentinel, or does not know the name', async () => {
    const [, sentinels = '', name = ''] = /\/\/(.*)\/(.*)$/.exec(watched.url) ?? []
    const answers = ['+OK\r\n', '*2\r\n$0\r\n\r\n$4\r\n6379\r\n', '*2\r\n$9\r\n127.0.0.1\r\n$1\r\n0\r\n']
    const ports = await Promise.all(
      answers.map(async (answer) => {
        const port = await freePort()
        const server = createServer((socket) => {
          socket.on('error', () => {})
          socket.on('data', (data) => socket.write(String(data).includes('GET-MASTER') ? answer : '+OK\r\n'))
        })
        others.push(server)
        await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
        return `127.0.0.1:${port}`
      }),
    )
    const other = connectRedis({ url: `redis+sentinel://${[...ports, sentinels].join(',')}/${name}` })
    try {
      await eventually(() => written('right', other))
      expect(await portOf(other)).to.equal((await watched.primary()).port)
    } finally {
      await other.close()
    }
    const unknown = connectRedis({ url: `redis+sentinel://${sentinels}/another` })
    try {
      expect(String(((await rejection(unknown.ready())) as Error).cause)).to.include(
        'does not know this name',
      )
    } finally {
      await unknown.close()
    }
  })

  it('is to the primary, and to the replica that takes its place when it dies', async () => {
    const first = await watched.primary()
    await written('one')
    await replicated()
    await first.stop()
    const refusals: unknown[] = []
    await eventually(async () => {
      try {
        await written('two')
      } catch (error) {
        refusals.push(error)
        throw error
      }
    })
    for (const error of refusals) expect(error).to.be.instanceOf(Problem).and.include({ status: 503 })
    const next = await watched.primary()
    expect(next.port).not.to.equal(first.port)
    expect(await portOf(redis)).to.equal(next.port)
    // The old primary comes back as a replica, which takes no writes.
    await first.start()
    const old = connectRedis({ url: first.url })
    try {
      await old.ready()
      await eventually(async () => expect((await old.send((client) => client.role()))[0]).to.equal('slave'))
    } finally {
      await old.close()
    }
    await written('three')
    expect(await portOf(redis)).to.equal(next.port)
  })

  itLong('leaves a primary that is frozen, and does not return to it when it thaws', async () => {
    const first = await watched.primary()
    await written('one')
    await replicated()
    first.freeze()
    await eventually(() => written('two'))
    first.thaw()
    await eventually(async () => {
      expect((await watched.primary()).port).not.to.equal(first.port)
      expect(await portOf(redis)).to.equal((await watched.primary()).port)
    })
    await written('three')
  })

  itLong('is opened when no Sentinel was there at first, and again after all of them were away', async () => {
    const [, sentinels = '', name = ''] = /\/\/(.*)\/(.*)$/.exec(watched.url) ?? []
    const { port } = new URL(`http://${sentinels.split(',')[0]}`)
    const late = await freePort()
    const other = connectRedis({ url: `redis+sentinel://127.0.0.1:${late}/${name}` })
    try {
      expect(String(((await rejection(other.ready())) as Error).cause)).to.include(
        `no Sentinel names the primary of ${name}: 127.0.0.1:${late}: connect ECONNREFUSED`,
      )
      // Stands for a Sentinel that starts later: it passes on all to one of them.
      const passing = createServer((socket) => {
        const to = connect(Number(port), '127.0.0.1')
        socket.pipe(to).pipe(socket)
        for (const one of [socket, to]) one.on('error', () => {})
      })
      others.push(passing)
      await new Promise<void>((done) => passing.listen(late, '127.0.0.1', done))
      await eventually(() => written('late', other))
    } finally {
      await other.close()
    }
  })
})
