import { execFileSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { uploadOne } from '../support/requests/client.ts'
import { type Answer, exchange, jsonOf } from '../support/requests/exchange.ts'
import { startProcess } from '../support/servers/process.ts'
import { PROJECT } from '../support/service.ts'
import { itLong } from '../support/sized.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// DejaVu has Arabic and Hebrew letters.
const LACKING = ['Chinese', 'Hindi', 'Japanese', 'Korean', 'Thai']

const drawn = (text: string) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text y="15">${text}</text></svg>`,
  )

describe('the scripts without a font', () => {
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
      const uploaded = async (name: string, bytes: Buffer) => {
        const { pathname } = new URL((await uploadOne(server, { name, bytes })).src)
        return (query: string) => exchange(server, `${pathname}?${query}`)
      }
      const noteOf = ({ headers, status, body }: Answer) => {
        expect(status, String(body)).to.equal(200)
        return headers['x-sluice-transform']
      }
      const png = await uploaded('a.png', await picture())
      const svg = await uploaded('a.svg', drawn('日本'))
      const escaped = await uploaded('b.svg', drawn('&#x939;&#3585;'))
      const latin = await uploaded('c.svg', drawn('&#937;'))
      const text = await uploaded('a.txt', Buffer.from('\ufeff한', 'utf16le'))
      // The first time, and when it is stored.
      for (let i = 0; i < 2; i += 1) {
        expect(noteOf(await png(`text=${encodeURIComponent('日本')}`))).to.equal(
          'text with boxes: no font for Chinese',
        )
        expect(noteOf(await svg('f=png'))).to.equal('drawn with boxes: no font for Chinese')
        expect(noteOf(await escaped('w=20'))).to.equal('drawn with boxes: no font for Hindi and Thai')
        expect(noteOf(await text('f=webp'))).to.equal('drawn with boxes: no font for Korean')
      }
      expect(noteOf(await png(`text=${encodeURIComponent('Ω')}`))).to.equal(undefined)
      expect(noteOf(await latin('f=png'))).to.equal(undefined)
      // An original is not drawn.
      expect(noteOf(await svg(''))).to.equal(undefined)
    } finally {
      server.child.kill('SIGTERM')
      await server.ended
    }
  })

  itLong('are named by the header also after the index was lost: from the record in the bucket', async () => {
    const DATA_DIR = join(folder, 'without-index')
    const former = await startProcess({ env: { ...env, DATA_DIR } })
    const { src } = await uploadOne(former, { name: 'a.svg', bytes: drawn('日本') })
    const path = new URL(src).pathname
    former.child.kill('SIGTERM')
    await former.ended
    await rm(join(DATA_DIR, 'index'), { recursive: true })
    const server = await startProcess({ env: { ...env, DATA_DIR } })
    try {
      await eventually(async () => {
        const { status, headers, body } = await exchange(server, `${path}?w=20`)
        expect([status, headers['x-sluice-transform']], String(body)).to.deep.equal([
          200,
          'drawn with boxes: no font for Chinese',
        ])
      })
    } finally {
      server.child.kill('SIGTERM')
      await server.ended
    }
  })
})
