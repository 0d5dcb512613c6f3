import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { cpuMsOf } from '../../../src/core/budgets/process-stat.ts'
import { eventually } from '../../support/eventually.ts'
import { MIB } from '../../support/heavy.ts'
import { largeHeic } from '../../support/media/large-heic.ts'
import { cpuLimit } from '../../support/programs/cpu-limit.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { childrenOf } from '../../support/servers/processes.ts'
import { PROJECT } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const FIRST_CPU_MS = 2500
const LATER_CPU_MS = 80
const LIMIT_BYTES = 400 * MIB

describe('memory and CPU time of a HEIC of 12 megapixels', function () {
  this.timeout(60_000)
  let dataDir: string
  let server: RunningServer
  before(async () => {
    dataDir = await temporaryFolder()
    server = await startProcess({ env: { DATA_DIR: dataDir, LOG_LEVEL: 'error' } })
  })
  after(async () => {
    server.child.kill('SIGTERM')
    await server.ended
    await rm(dataDir, { recursive: true, force: true })
  })

  const processes = async () => [server.pid, ...(await childrenOf(server.pid))]
  const factOf = (pid: number, name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')

  /** CPU time of the server and its children, with those that have ended. */
  async function cpuMs(): Promise<number> {
    const stats = await Promise.all((await processes()).map((pid) => factOf(pid, 'stat')))
    return stats.filter((stat) => stat !== '').reduce((sum, stat) => sum + cpuMsOf(stat), 0)
  }

  async function peaks(): Promise<number[]> {
    const all = await Promise.all((await processes()).map((pid) => factOf(pid, 'status')))
    return all.map((status) => Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024)
  }

  it('are at most 2.5 s and 400 MiB at first, and 80 ms for a later width', async () => {
    const upload = async (name: string, bytes: Buffer) => (await uploadOne(server, { name, bytes })).src
    const photo = await readFile(join(PROJECT, 'test/corpus/files/heic-photo.heic'))
    // Loads the decoder.
    await exchange(server, `${await upload('small.heic', photo)}?w=50`)
    const src = await upload('large.heic', largeHeic(photo, { side: 512, columns: 8, rows: 6 }))
    const spentBy = async (query: string) => {
      const before = await cpuMs()
      const { status } = await exchange(server, `${src}?${query}`)
      expect(status, query).to.equal(200)
      return (await cpuMs()) - before
    }
    expect(await spentBy('w=800')).to.be.within(100, cpuLimit(FIRST_CPU_MS))
    expect(Math.max(...(await peaks()))).to.be.below(LIMIT_BYTES)
    await eventually(async () => {
      const names = await readdir(dataDir, { recursive: true })
      expect(names.some((name) => name.endsWith('_proxy'))).to.equal(true)
    })
    const later = []
    for (const query of ['w=320', 'w=640', 'w=480&f=webp', 'w=1000']) later.push(await spentBy(query))
    // The least one: other work of the server may happen at the same time.
    expect(Math.min(...later)).to.be.at.most(cpuLimit(LATER_CPU_MS))
  })
})
