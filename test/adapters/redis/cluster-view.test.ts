import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { clusterView } from '../../../src/adapters/redis/cluster-view.ts'
import { rejection } from '../../support/rejection.ts'
import { freePort } from '../../support/servers/free-port.ts'

/** A server that states what a test tells it to: a real node cannot be made to have an old view. */
interface StatingNode {
  host: string
  port: number
  queries: number
  /** Changes what it states. */
  state(epoch: number, slots: unknown[]): void
}

const OPTIONS = { connectTimeout: 5000, commandTimeout: 5000 }

describe('the view of a Redis Cluster', () => {
  const servers: Server[] = []
  const sockets = new Set<Socket>()
  afterEach(() => {
    for (const socket of sockets) socket.destroy()
    for (const server of servers.splice(0)) server.close()
  })

  /** @param slots as CLUSTER SLOTS has them; undefined: the server accepts connections, and does not respond */
  async function node(epoch: number, slots: unknown[] | undefined): Promise<StatingNode> {
    let stated = { epoch, slots }
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('data', (data) => {
        if (stated.slots === undefined) return
        for (const [, word = ''] of String(data).matchAll(/\$\d+\r\n(INFO|SLOTS|HELLO|CLIENT)\r\n/gi)) {
          if (/info/i.test(word)) socket.write(encoded(`cluster_current_epoch:${stated.epoch}\r\n`))
          else if (/slots/i.test(word)) {
            stating.queries += 1
            socket.write(encoded(stated.slots))
          } else socket.write('+OK\r\n')
        }
      })
    }).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    const stating = {
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      queries: 0,
      state(newer: number, other: unknown[]) {
        stated = { epoch: newer, slots: other }
      },
    }
    return stating
  }

  it('is that of the node with the newest epoch, not that of a node that was cut off', async () => {
    const old = await node(3, [[0, 16_383, ['10.0.0.1', 1]]])
    const current = await node(4, [
      [0, 99, ['10.0.0.2', 2], ['10.0.0.3', 3]],
      [100, 16_383, ['10.0.0.4', 4]],
    ])
    // Whichever answers first.
    for (const nodes of [
      [old, current],
      [current, old],
    ]) {
      const view = clusterView(nodes, OPTIONS)
      expect(await view.primaryOf(99)).to.deep.equal({ host: '10.0.0.2', port: 2 })
      expect(await view.primaryOf(100)).to.deep.equal({ host: '10.0.0.4', port: 4 })
    }
  })

  it('does not wait for nodes that are down or frozen', async () => {
    const frozen = await node(9, undefined)
    const current = await node(4, [[0, 16_383, ['10.0.0.2', 2]]])
    const view = clusterView([{ host: '127.0.0.1', port: await freePort() }, frozen, current], OPTIONS)
    expect(await view.primaryOf(0)).to.deep.equal({ host: '10.0.0.2', port: 2 })
  })

  it('takes the address that was queried for a node without a name', async () => {
    const current = await node(1, [[0, 16_383, [null, 7]]])
    expect(await clusterView([current], OPTIONS).primaryOf(5)).to.deep.equal({ host: '127.0.0.1', port: 7 })
  })

  it('asks the nodes that it knows again when one without slots has answered, and takes no host name that is unknown', async () => {
    const other = await node(1, [[0, 16_383, ['?', 9, 'id', ['ip', '10.0.0.9']]]])
    const first = await node(1, [[0, 16_383, ['127.0.0.1', other.port]]])
    const view = clusterView([first], OPTIONS)
    expect(await view.primaryOf(0)).to.deep.equal({ host: '127.0.0.1', port: other.port })
    // It comes back empty, and knows a later epoch.
    first.state(7, [])
    for (let i = 0; i < 2; i += 1) {
      view.forget()
      expect(await view.primaryOf(0)).to.deep.equal({ host: '10.0.0.9', port: 9 })
    }
  })

  it('is queried once for many connections', async () => {
    const current = await node(1, [[0, 16_383, ['10.0.0.2', 2]]])
    const view = clusterView([current], OPTIONS)
    await Promise.all(Array.from({ length: 50 }, (_, slot) => view.primaryOf(slot)))
    expect(current.queries).to.equal(1)
  })

  it('names a slot that no node has, and the reason of each node that does not respond', async () => {
    const partial = await node(1, [[0, 99, ['10.0.0.2', 2]]])
    expect(String(await rejection(clusterView([partial], OPTIONS).primaryOf(100)))).to.include('slot 100')
    const port = await freePort()
    const down = clusterView([{ host: '127.0.0.1', port }], OPTIONS)
    expect(String(await rejection(down.primaryOf(0)))).to.match(
      new RegExp(`no node of the cluster responds: 127\\.0\\.0\\.1:${port}: .*ECONNREFUSED`),
    )
  })
})

/** A value in the protocol of Redis. */
function encoded(value: unknown): string {
  if (value === null) return '$-1\r\n'
  if (typeof value === 'number') return `:${value}\r\n`
  if (typeof value === 'string') return `$${Buffer.byteLength(value)}\r\n${value}\r\n`
  const items = value as unknown[]
  return `*${items.length}\r\n${items.map(encoded).join('')}`
}
