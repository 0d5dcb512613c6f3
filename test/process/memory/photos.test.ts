import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { MIB } from '../../support/heavy.ts'
import { largeHeic } from '../../support/media/large-heic.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { type RunningServer, startProcess } from '../../support/servers/process.ts'
import { childrenOf } from '../../support/servers/processes.ts'
import { PROJECT } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const LIMIT_BYTES = 400 * MIB

describe('memory of a HEIC of 12 megapixels', function () {
  this.timeout(120_000)
  let dataDir: string
  let server: RunningServer
  before(async () => {
    dataDir = await temporaryFolder()
    server = await startProcess({
      env: { DATA_DIR: dataDir, LOG_LEVEL: 'error', TRANSFORM_KILL_SECONDS: '300' },
    })
  })
  after(async () => {
    server.child.kill('SIGTERM')
    await server.ended
    await rm(dataDir, { recursive: true, force: true })
  })

  const processes = async () => [server.pid, ...(await childrenOf(server.pid))]
  const factOf = (pid: number, name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')

  async function peaks(): Promise<number[]> {
    const all = await Promise.all((await processes()).map((pid) => factOf(pid, 'status')))
    return all.map((status) => Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024)
  }

  // A decoder of HEIC takes seconds of CPU time for so many pixels.
  itLong('is at most 400 MiB, and a proxy is stored for later widths', async () => {
    const photo = await readFile(join(PROJECT, 'test/corpus/files/heic-photo.heic'))
    const bytes = largeHeic(photo, { side: 512, columns: 8, rows: 6 })
    const { src } = await uploadOne(server, { name: 'large.heic', bytes })
    expect((await exchange(server, `${src}?w=800`)).status).to.equal(200)
    expect(Math.max(...(await peaks()))).to.be.below(LIMIT_BYTES)
    await eventually(async () => {
      const names = await readdir(dataDir, { recursive: true })
      expect(names.some((name) => name.endsWith('_proxy'))).to.equal(true)
    })
  })
})
