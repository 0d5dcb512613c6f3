import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { postZip } from '../../support/requests/client.ts'
import { run } from '../../support/servers/process.ts'
import { PROJECT, type Service, startService } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('the demo', () => {
  const start = stoppedAtTheEnd(startService)
  let service: Service
  let folder: string
  before(async () => {
    service = await start({ env: { ZIP_RATE_LIMIT: '4' } })
    folder = await temporaryFolder()
  })
  after(() => rm(folder, { recursive: true }))

  /** With a folder for temporary files of its own, to see what is left there. */
  async function demo({ env = {}, args = [] }: { env?: Record<string, string>; args?: string[] }) {
    const temporary = join(folder, 'tmp')
    await rm(temporary, { recursive: true, force: true })
    await mkdir(temporary)
    const script = [join(PROJECT, 'scripts', 'demo.js'), ...args]
    const running = run({ script, env: { DATA_DIR: service.dataDir, TMPDIR: temporary, ...env } })
    const code = await running.ended
    return { code, output: running.output(), left: await readdir(temporary) }
  }

  it('finds the server that uses the data folder, and leaves no files', async () => {
    const { code, output, left } = await demo({ env: { PORT: '0' } })
    expect(code, output).to.equal(0)
    expect(output).to.include(`available at ${service.url}/`).and.include('404, the file is deleted')
    expect(left).to.deep.equal([])
    expect(await service.objects()).to.deep.equal([])
  })

  it('uses the port of PORT, whichever server uses the data folder', async () => {
    const { code, output } = await demo({ env: { PORT: new URL(service.url).port } })
    expect(code, output).to.equal(0)
    const nobody = await demo({ env: { PORT: '1' } })
    expect(nobody.code).to.equal(1)
    expect(nobody.output).to.match(/no server at http:\/\/localhost:1 /)
  })

  it('uses the default port when no server uses the data folder', async () => {
    const dataDir = join(folder, 'data')
    await mkdir(dataDir)
    // No process has this number: it is past the largest that Linux gives.
    await writeFile(join(dataDir, 'holder.json'), '{"pid":4194305,"baseUrl":"http://localhost:2"}')
    const { output } = await demo({ env: { DATA_DIR: dataDir, SECRET_CLIENT_TOKEN: 'of-nobody-at-all' } })
    // Whether anybody listens there is for this machine to say.
    expect(output)
      .to.match(/upload failed: .*http:\/\/localhost:3000/)
      .and.not.include('localhost:2')
  })

  it('stores its results in the given folder', async () => {
    const out = join(folder, 'out')
    const { code, output } = await demo({ args: ['--out', out, '--url', `${service.url}/`] })
    expect(code, output).to.equal(0)
    expect((await readdir(out)).sort()).to.deep.equal(['archive.zip', 'picture.png', 'small.webp'])
  })

  itLong('deletes its image also when another step fails', async () => {
    const body = { files: [{ path: 'missing.png' }] }
    while ((await postZip(service, body)).status !== 429);
    const { code, output } = await demo({})
    expect(code).to.equal(1)
    expect(output).to.match(/zip failed: .*429/)
    expect(await service.objects()).to.deep.equal([])
  })
})
