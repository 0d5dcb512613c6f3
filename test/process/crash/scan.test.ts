import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { pluginFolder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { startProcess } from '../../support/servers/process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SCANNER = `export default {
  name: 'hanging-scanner',
  scan: async () => (process.env.HANG ? new Promise(() => {}) : { state: 'clean' }),
}
`

describe('a process that is killed while it scans a file', () => {
  it('leaves the file to the next process, which scans it', async () => {
    const folder = await temporaryFolder()
    const env = { DATA_DIR: folder, PLUGINS_DIR: await pluginFolder({ 'scanner.js': SCANNER }) }
    const killed = await startProcess({ env: { ...env, HANG: '1' } })
    const { src } = await uploadOne(killed, { name: 'a.txt', bytes: 'a text' })
    expect((await exchange(killed, src)).status).to.equal(423)
    killed.child.kill('SIGKILL')
    await killed.ended
    const next = await startProcess({ env })
    try {
      await eventually(async () => expect((await exchange(next, new URL(src).pathname)).status).to.equal(200))
    } finally {
      next.child.kill('SIGTERM')
      await next.ended
      await rm(folder, { recursive: true, force: true })
    }
  })
})
