import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { isConfinable } from '../../../src/engines/office/confined.ts'
import { convertToPdf, findSoffice, socketOf } from '../../../src/engines/office/soffice.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { zipped } from '../../support/media/zipped.ts'
import { rejection } from '../../support/rejection.ts'
import { PROJECT } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

const env = { PATH: process.env.PATH ?? '' }

describe('LibreOffice', () => {
  it('shows no image file of the machine, whatever the document is', async function () {
    this.timeout(60_000)
    expect(await isConfinable(env), 'Landlock and Perl').to.equal(true)
    const secret = join(await temporaryFolder(), 'secret.png')
    await writeFile(secret, await picture({ width: 321, height: 123, format: 'png' }))
    const documents = {
      'a.rtf': `{\\rtf1{\\field{\\*\\fldinst INCLUDEPICTURE "${secret}" \\\\d}{\\fldrslt x}}\\par a}`,
      'a.odp': await presentationWith(`file://${secret}`),
    }
    for (const [file, bytes] of Object.entries(documents)) {
      const folder = await temporaryFolder()
      await writeFile(join(folder, file), bytes)
      const running = { env, timeoutMs: 30_000, signal: new AbortController().signal }
      await convertToPdf((await findSoffice(env)) ?? '', { folder, file, running })
      const { stdout } = await run('pdfimages', ['-list', join(folder, 'a.pdf')])
      expect(stdout, file).to.not.match(/ 321 +123 /)
    }
  })

  it('leaves no socket behind when it crashes', async function () {
    this.timeout(60_000)
    const folder = await temporaryFolder()
    await copyFile(join(PROJECT, 'test/corpus/files/libreoffice.pptx'), join(folder, 'a.pptx'))
    const running = { env, timeoutMs: 30_000, signal: new AbortController().signal }
    const program = (await findSoffice(env)) ?? ''
    const conversion = rejection(convertToPdf(program, { folder, file: 'a.pptx', running }))
    const socket = socketOf(String(pathToFileURL(join(folder, 'profile'))))
    await eventually(async () => {
      expect(existsSync(socket)).to.equal(true)
      await run('pkill', ['-KILL', '-f', `${folder}/profile`])
    })
    await conversion
    expect(existsSync(socket)).to.equal(false)
  })
})

function presentationWith(image: string): Promise<Buffer> {
  const type = 'application/vnd.oasis.opendocument.presentation'
  const name = (prefix: string, rest = prefix) =>
    `xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${rest}:1.0"`
  const names = [name('office'), name('draw', 'drawing'), name('svg', 'svg-compatible')]
  const frame = `<draw:frame svg:width="5cm" svg:height="5cm"><draw:image xlink:href="${image}"/></draw:frame>`
  const entry = (path: string, media: string) =>
    `<manifest:file-entry manifest:full-path="${path}" manifest:media-type="${media}"/>`
  return zipped({
    mimetype: type,
    'META-INF/manifest.xml': `<manifest:manifest ${name('manifest')}>${entry('/', type)}${entry('content.xml', 'text/xml')}</manifest:manifest>`,
    'content.xml': `<office:document-content ${names.join(' ')} xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2"><office:body><office:presentation><draw:page draw:name="a">${frame}</draw:page></office:presentation></office:body></office:document-content>`,
  })
}
