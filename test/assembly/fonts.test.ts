import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT } from '../support/service.ts'

describe('the scripts without a font', () => {
  it('are those whose characters are drawn as boxes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-fonts-'))
    try {
      const dejavu = join(PROJECT, 'node_modules/dejavu-fonts-ttf/ttf')
      const settings = `<fontconfig><dir>${dejavu}</dir><cachedir>${folder}/cache</cachedir></fontconfig>`
      writeFileSync(join(folder, 'fonts.conf'), settings)
      const code = `import { scriptsWithoutFont } from '${join(PROJECT, 'src/engines/image/documents/scripts.ts')}'
        console.log(JSON.stringify(await scriptsWithoutFont()))`
      const args = ['--import=tsx', '--input-type=module', '--eval', code]
      const env = { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf') }
      const printed = execFileSync(process.execPath, args, { cwd: PROJECT, env, encoding: 'utf8' })
      // DejaVu has Arabic and Hebrew letters.
      expect(JSON.parse(printed)).to.deep.equal(['Chinese', 'Hindi', 'Japanese', 'Korean', 'Thai'])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
