import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import { builtScript } from '../../support/programs/built-script.ts'
import { asCaller, isAccepted, operated } from '../../support/programs/operated.ts'
import { deleteFile, uploadOne } from '../../support/requests/client.ts'
import { startProcess } from '../../support/servers/process.ts'
import { filesInBucket } from '../../support/stored/state.ts'

const CRASHING = [await builtScript('crash-server')]

describe('commands for a server that was killed', () => {
  const own = operated()

  it('report it, open the folder that it has left, and continue the removal of a client after the next start', async () => {
    const before = await own.start()
    const kept = await uploadOne(before, { name: 'a.txt', bytes: 'text' })
    await own.end(before)
    const crashing = await startProcess({
      script: CRASHING,
      env: { ...own.env, CRASH_AT: 'after bucket.delete original' },
    })
    const client = await own.newClient()
    for (let i = 0; i < 5; i += 1)
      await uploadOne(asCaller(crashing, client), { name: 'a.txt', bytes: 'text' })
    const { code, stderr } = await own.sluice('client', 'remove', client.id, '--files')
    expect(code).to.equal(1)
    expect(stderr).to.include('the server exited during the command')
    expect(await crashing.ended).to.equal('SIGKILL')

    const socket = join(own.dataDir, 'control.sock')
    expect(existsSync(socket), 'a killed server leaves its socket').to.equal(true)
    expect(await own.lines('client', 'list')).to.have.length(3)

    const server = await own.start()
    expect(await isAccepted(asCaller(server, client))).to.equal(false)
    expect((await own.lines('client', 'list'))[2]).to.match(/removing$/)
    expect((await own.sluice('client', 'remove', client.id)).code).to.equal(0)
    expect(await filesInBucket(own.dataDir)).to.deep.equal(
      [kept.s3PathOriginal, recordKey(storedKey(kept.s3PathOriginal))].map((key) => `first/${key}`).sort(),
    )
    expect((await deleteFile(server, kept.s3PathOriginal)).status).to.equal(200)
    expect(await own.json<object[]>('client', 'list')).to.have.length(1)
    await own.end(server)
    expect(existsSync(socket)).to.equal(false)
  })
})
