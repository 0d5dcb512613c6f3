import { expect } from 'chai'
import { pluginFolder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { ask } from '../../support/requests/ask.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { startProcess } from '../../support/servers/process.ts'
import { startService } from '../../support/service.ts'
import { filePath } from '../../support/stored/files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SCANNER = `export default {
  name: 'hanging-scanner',
  scan: async () => {
    if (!process.env.HANG) return { state: 'clean' }
    console.log('scan begun')
    return new Promise(() => {})
  },
}
`

describe('a process that is killed while it scans a file', () => {
  it('leaves the file to the next process, which scans it', async () => {
    const folder = await temporaryFolder()
    const env = { DATA_DIR: folder, PLUGINS_DIR: await pluginFolder({ 'scanner.js': SCANNER }) }
    const killed = await startProcess({ env: { ...env, HANG: '1' } })
    const { src, s3PathOriginal: key } = await uploadOne(killed, { name: 'a.txt', bytes: 'a text' })
    await eventually(() => expect(killed.output()).to.include('scan begun'))
    killed.child.kill('SIGKILL')
    await killed.ended
    const next = await startService({ env, dataDir: folder })
    try {
      // A request for the file would queue a lost scan again.
      await eventually(async () =>
        expect((await ask(next, filePath(key))).body).to.have.deep.property('scan', { state: 'clean' }),
      )
      expect((await exchange(next, new URL(src).pathname)).status).to.equal(200)
    } finally {
      await next.stop()
    }
  })
})
