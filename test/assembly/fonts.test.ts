import { execFileSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { uploadOne } from '../support/requests/client.ts'
import { exchange, jsonOf } from '../support/requests/exchange.ts'
import { startProcess } from '../support/servers/process.ts'
import { PROJECT } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// DejaVu has Arabic and Hebrew letters.
const LACKING = ['Chinese', 'Hindi', 'Japanese', 'Korean', 'Thai']

describe('the scripts without a font', function () {
  this.timeout(60_000)
  let folder: string
  /** Of a machine that has no other fonts than DejaVu. */
  let env: { FONTCONFIG_FILE: string }
  before(async () => {
    folder = await temporaryFolder()
    const dejavu = join(PROJECT, 'node_modules/dejavu-fonts-ttf/ttf')
    const settings = `<fontconfig><dir>${dejavu}</dir><cachedir>${folder}/cache</cachedir></fontconfig>`
    env = { FONTCONFIG_FILE: join(folder, 'fonts.conf') }
    await writeFile(env.FONTCONFIG_FILE, settings)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('are those whose characters are drawn as boxes', () => {
    const code = `import { scriptsWithoutFont } from '${join(PROJECT, 'src/engines/image/documents/scripts.ts')}'
      console.log(JSON.stringify(await scriptsWithoutFont()))`
    const args = ['--import=tsx', '--input-type=module', '--eval', code]
    const printed = execFileSync(process.execPath, args, {
      cwd: PROJECT,
      env: { ...process.env, ...env },
      encoding: 'utf8',
    })
    expect(JSON.parse(printed)).to.deep.equal(LACKING)
  })

  it('are named by /readyz, and by the header of a derivative whose text has them', async () => {
    const server = await startProcess({ env: { ...env, DATA_DIR: join(folder, 'data') } })
    try {
      await eventually(async () => {
        const ready = jsonOf(await exchange(server, '/readyz'))
        expect(ready).to.deep.include({ status: 'ok', scriptsWithoutFont: LACKING })
        expect(ready.checks).to.include({ fonts: 'missing' })
      })
      const { src } = await uploadOne(server, { name: 'a.png', bytes: await picture() })
      const noteOf = async (text: string) =>
        (await exchange(server, `${new URL(src).pathname}?text=${encodeURIComponent(text)}`)).headers[
          'x-sluice-transform'
        ]
      // The first time, and when it is stored.
      for (let i = 0; i < 2; i += 1)
        expect(await noteOf('日本')).to.equal('text with boxes: no font for Chinese')
      expect(await noteOf('Ω')).to.equal(undefined)
    } finally {
      server.child.kill('SIGTERM')
      await server.ended
    }
  })
})
