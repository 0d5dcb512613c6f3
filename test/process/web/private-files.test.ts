import { chmod, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { picture } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { type RunningServer, run, startProcess } from '../../support/servers/process.ts'
import { PROJECT } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('the files of a data folder', () => {
  let folder: string
  let server: RunningServer | undefined
  beforeEach(async () => {
    folder = await temporaryFolder()
    // As a Docker volume is.
    await chmod(folder, 0o755)
  })
  afterEach(async () => {
    server?.child.kill('SIGTERM')
    await server?.ended
    await rm(folder, { recursive: true, force: true })
  })

  async function readableByOthers(): Promise<string[]> {
    const found: string[] = []
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const { mode } = await stat(path).catch(() => ({ mode: 0 }))
      if ((mode & 0o077) !== 0) found.push(`${path} ${(mode & 0o777).toString(8)}`)
    }
    return found
  }

  it('are readable by their owner only, whether a server or a command writes them', async () => {
    server = await startProcess({ env: { DATA_DIR: folder } })
    const { src } = await uploadOne(server, { name: 'a.png', bytes: await picture() })
    expect((await fetch(`${src}?w=20`)).status).to.equal(200)
    expect(await readdir(join(folder, 'index'))).to.not.deep.equal([])
    expect(await readableByOthers()).to.deep.equal([])
    server.child.kill('SIGTERM')
    await server.ended
    // Without a server the command opens the index itself.
    const command = run({
      script: [join(PROJECT, 'dist', 'src', 'cli.js'), 'check'],
      env: { DATA_DIR: folder },
    })
    expect(await command.ended, command.output()).to.equal(0)
    expect(await readableByOthers()).to.deep.equal([])
  })
})
