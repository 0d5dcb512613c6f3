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
import { itLong, sized } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

const env = { PATH: process.env.PATH ?? '' }

describe('LibreOffice', () => {
  it('shows no image file of the machine, whatever the document is', async function () {
    this.timeout(180_000)
    expect(await isConfinable(env), 'Landlock and Perl').to.equal(true)
    const secret = join(await temporaryFolder(), 'secret.png')
    await writeFile(secret, await picture({ width: 321, height: 123, format: 'png' }))
    const documents = {
      'a.rtf': `{\\rtf1{\\field{\\*\\fldinst INCLUDEPICTURE "${secret}" \\\\d}{\\fldrslt x}}\\par a}`,
      'a.odp': await presentationWith(`file://${secret}`),
      'a.docx': await documentWithSvg(`file://${secret}`),
    }
    // The same confinement refuses all three, as they are loaded in the same process.
    const usual = { 'a.odp': documents['a.odp'] }
    for (const [file, bytes] of Object.entries(sized(usual, documents))) {
      const folder = await temporaryFolder()
      await writeFile(join(folder, file), bytes)
      const running = { env, timeoutMs: 120_000, signal: new AbortController().signal }
      await convertToPdf((await findSoffice(env)) ?? '', { folder, file, running })
      const { stdout } = await run('pdfimages', ['-list', join(folder, 'a.pdf')])
      expect(stdout, file).to.not.match(/ 321 +123 /)
    }
  })

  itLong('leaves no socket behind when it crashes', async () => {
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

/** A document with a drawing that shows an image. */
function documentWithSvg(image: string): Promise<Buffer> {
  const [openxml, media] = ['http://schemas.openxmlformats.org', 'application/vnd.openxmlformats-']
  const type = (end: string) => `${openxml}/officeDocument/2006/relationships/${end}`
  const related = (...all: string[]) =>
    `<Relationships xmlns="${openxml}/package/2006/relationships">${all.join('')}</Relationships>`
  const size = 'cx="1800000" cy="1800000"'
  const picture = `<pic:pic xmlns:pic="${openxml}/drawingml/2006/picture"><pic:nvPicPr><pic:cNvPr id="1" name="a"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="svg"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext ${size}/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic>`
  const graphic = `<a:graphic xmlns:a="${openxml}/drawingml/2006/main"><a:graphicData uri="${openxml}/drawingml/2006/picture">${picture}</a:graphicData></a:graphic>`
  const inline = `<wp:inline xmlns:wp="${openxml}/drawingml/2006/wordprocessingDrawing"><wp:extent ${size}/><wp:docPr id="1" name="a"/>${graphic}</wp:inline>`
  return zipped({
    '[Content_Types].xml': `<Types xmlns="${openxml}/package/2006/content-types"><Default Extension="rels" ContentType="${media}package.relationships+xml"/><Default Extension="svg" ContentType="image/svg+xml"/><Override PartName="/word/document.xml" ContentType="${media}officedocument.wordprocessingml.document.main+xml"/></Types>`,
    '_rels/.rels': related(
      `<Relationship Id="a" Type="${type('officeDocument')}" Target="word/document.xml"/>`,
    ),
    'word/document.xml': `<w:document xmlns:w="${openxml}/wordprocessingml/2006/main" xmlns:r="${openxml}/officeDocument/2006/relationships"><w:body><w:p><w:r><w:drawing>${inline}</w:drawing></w:r></w:p></w:body></w:document>`,
    'word/_rels/document.xml.rels': related(
      `<Relationship Id="svg" Type="${type('image')}" Target="media/a.svg"/>`,
    ),
    'word/media/a.svg': `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="321" height="123"><image xlink:href="${image}" width="321" height="123"/></svg>`,
  })
}

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
