import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { guardedFetcher } from '../../../src/adapters/fetcher/guarded.ts'
import { createNames } from '../../../src/adapters/fetcher/names.ts'
import { namesToAsk } from '../../../src/adapters/fetcher/search-list.ts'
import { rejection } from '../../support/rejection.ts'
import { type Remote, remote } from '../../support/requests/remote.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { bytesOf, expectProblem } from './outcome.ts'

describe('name lookups', () => {
  let folder: string
  let nameServer: Socket
  let answer: (query: Buffer) => Buffer | undefined
  let asked: string[]
  let server: Remote | undefined
  before(async () => {
    folder = await temporaryFolder()
    await writeFile(join(folder, 'hosts'), '127.0.0.1 here.example # 10.0.0.1\n::1 here.example\n')
    await writeFile(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\nsearch inner.example\n')
    nameServer = createSocket('udp4', (query, from) => {
      asked.push(nameIn(query))
      const bytes = answer(query)
      if (bytes) nameServer.send(bytes, from.port, from.address)
    }).bind(0, '127.0.0.1')
    await once(nameServer, 'listening')
  })
  beforeEach(() => {
    asked = []
    answer = () => undefined
  })
  // Also after a test that has failed: an open server would keep the process.
  after(async () => {
    nameServer.close()
    await server?.close()
  })

  const names = (more = {}) =>
    createNames({
      servers: [`127.0.0.1:${nameServer.address().port}`],
      limitMs: 1000,
      hostsFile: join(folder, 'hosts'),
      resolvConf: join(folder, 'resolv.conf'),
      ...more,
    })

  it('without a response block no other fetch, and no lookup of the system', async () => {
    const web = await remote((_, res) => res.end('ok'))
    server = web
    const resolve = names({ limitMs: 3000 })
    const access = { ports: [web.port], addresses: ['127.0.0.1/32'] }
    const fetcher = guardedFetcher({ access, resolve })
    const get = (host: string) =>
      fetcher.fetch({ url: web.url('/', host), timeoutMs: 60_000, maxBytes: 1000 })
    let ended = 0
    const silent = Array.from({ length: 50 }, async (_, i) => {
      await expectProblem(get(`h${i}.example`), 504, 'remote_timeout')
      ended += 1
    })
    while (asked.length < 50) await new Promise((done) => setTimeout(done, 10))
    expect(String(await bytesOf(await get('here.example')))).to.equal('ok')
    // As Redis and S3 are found.
    await lookup('localhost')
    expect(ended).to.equal(0)
    await Promise.all(silent)
  })

  it('end at their time limit, and release their slot', async () => {
    const resolve = names({ atOnce: 1, limitMs: 300 })
    const first = rejection(resolve('slow.example'))
    await new Promise((done) => setTimeout(done, 50))
    expect(await rejection(resolve('other.example'))).to.include({ code: 'EBUSY' })
    expect(await first).to.include({ code: 'ECANCELLED' })
    answer = (query) => reply(query, query.includes(Buffer.from('\x05inner')) ? undefined : [127, 0, 0, 5])
    expect(await resolve('next.example')).to.deep.equal(['127.0.0.5'])
  })

  it('use the hosts file, then DNS with the search list, and never send reserved names', async () => {
    const resolve = names()
    expect(await resolve('HERE.example')).to.deep.equal(['127.0.0.1', '::1'])
    expect(await resolve('here.example.')).to.deep.equal(['127.0.0.1', '::1'])
    expect(await resolve('localhost')).to.deep.equal(['127.0.0.1', '::1'])
    expect(await rejection(resolve('none.invalid'))).to.include({ code: 'ENOTFOUND' })
    expect(asked).to.deep.equal([])
    answer = (query) => reply(query, undefined)
    expect(await rejection(resolve('none.example'))).to.include({ code: 'ENOTFOUND' })
    expect(new Set(asked)).to.deep.equal(new Set(['none.example', 'none.example.inner.example']))
  })

  it('try a name with enough dots unchanged first', () => {
    const conf = 'search a.test b.test.\noptions edns0 ndots:2 # x\n'
    expect(namesToAsk(conf, 'x')).to.deep.equal(['x.a.test', 'x.b.test', 'x'])
    expect(namesToAsk(conf, 'x.y.z')).to.deep.equal(['x.y.z', 'x.y.z.a.test', 'x.y.z.b.test'])
    expect(namesToAsk(conf, 'x.')).to.deep.equal(['x'])
    expect(namesToAsk('', 'x')).to.deep.equal(['x'])
  })
})

function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; query[at]; at += (query[at] ?? 0) + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  return labels.join('.')
}

/** An answer to an A query; without address, and to any other, that there is no such name. @see RFC 1035 section 4.1 */
function reply(query: Buffer, address: readonly number[] | undefined): Buffer {
  const end = query.indexOf(0, 12) + 5
  const isA = query.readUInt16BE(end - 4) === 1
  const found = isA && address !== undefined
  const head = Buffer.from([0x81, found ? 0x80 : 0x83, 0, 1, 0, found ? 1 : 0, 0, 0, 0, 0])
  const record = found ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address]) : Buffer.alloc(0)
  return Buffer.concat([query.subarray(0, 2), head, query.subarray(12, end), record])
}
