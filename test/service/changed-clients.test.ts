import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { DISK_REDIS, stoppedAtTheEnd } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { newClient, postFiles, uploadOne } from '../support/requests/client.ts'
import { exchange } from '../support/requests/exchange.ts'
import { startService } from '../support/service.ts'
import { itLong } from '../support/sized.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('clients that another process has changed', () => {
  // A process looks every two seconds.
  const start = stoppedAtTheEnd((options) => startService({ backend: DISK_REDIS, ...options }))

  it('have the changed rules', async () => {
    const dataDir = await temporaryFolder()
    const here = await start({ dataDir })
    const elsewhere = await start({ dataDir })
    const client = await newClient(elsewhere)
    const caller = { url: elsewhere.url, tokens: client.tokens }
    const { src } = await uploadOne(caller, { name: 'a.png', bytes: await picture() })
    const path = `${src.slice(elsewhere.url.length)}?w=20`
    const statusHere = async () => (await exchange(here, path)).status
    await eventually(async () => expect(await statusHere()).to.equal(200))
    await elsewhere.app.clients.setRules(client.id, { presetsOnly: true })
    expect((await exchange(elsewhere, path)).status).to.equal(403)
    await eventually(async () => expect(await statusHere()).to.equal(403))
    for (const service of [here, elsewhere]) await service.stop({ keepData: true })
    await rm(dataDir, { recursive: true })
  })

  itLong('are logged while they cannot be read, and known afterwards', async () => {
    const dataDir = await temporaryFolder()
    const here = await start({ dataDir })
    const elsewhere = await start({ dataDir })
    const broken = join(dataDir, 'bucket', 'first', '.sluice', 'clients', 'broken.json')
    await writeFile(broken, 'no JSON')
    const { tokens } = await newClient(elsewhere)
    const warnings = () =>
      here.log.lines.filter(
        ({ level, message }) => level === 'warn' && message.includes('client updates unavailable'),
      )
    await eventually(() => expect(warnings()).to.have.length(1))
    expect(String(warnings()[0]?.fields.err)).to.include('broken.json')

    await rm(broken)
    const isKnown = async () => (await postFiles({ url: here.url, tokens }, [])).status !== 401
    await eventually(async () => expect(await isKnown()).to.equal(true))
    for (const service of [here, elsewhere]) await service.stop({ keepData: true })
    await rm(dataDir, { recursive: true })
  })
})
