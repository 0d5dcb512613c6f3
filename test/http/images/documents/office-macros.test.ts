import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { findSoffice } from '../../../../src/engines/office/soffice.ts'
import { onOneBackend } from '../../../support/backends.ts'
import { eventually, LONG_MS } from '../../../support/eventually.ts'
import { zipped } from '../../../support/media/zipped.ts'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { sized } from '../../../support/sized.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

onOneBackend('a macro that runs when its document is opened', (start) => {
  let server: Server
  const requests: string[] = []
  before(async () => {
    server = createServer(({ url = '' }, response) => {
      requests.push(url)
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => server.close())

  it('has no effect, although LibreOffice would run it', async function () {
    this.timeout(120_000)
    const folder = await temporaryFolder()
    const written = join(folder, 'written')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/macro`
    const document = await withMacro({ written, address })
    const service = await start()
    const { src } = await uploadOne(service, { name: 'a.odt', bytes: document })
    const pdf = await exchange(service, `${src}?pdf&wait=30`)
    expect(pdf.status, pdf.body.toString('latin1', 0, 300)).to.equal(200)
    const isWritten = () =>
      access(written).then(
        () => true,
        () => false,
      )
    expect(await isWritten()).to.equal(false)
    expect(requests).to.deep.equal([])
    if (sized(true, false)) return
    // The document is as dangerous as it should be.
    const path = join(folder, 'a.odt')
    await writeFile(path, document)
    await opened(path, folder, () =>
      eventually(
        async () => {
          expect(await readFile(written, 'utf8')).to.include('macro')
          expect(requests).to.deep.equal(['/macro'])
        },
        { withinMs: LONG_MS },
      ),
    )
  })
})

/** Opens a document in a LibreOffice that runs all macros, until `work` has ended. */
async function opened(path: string, folder: string, work: () => Promise<void>): Promise<void> {
  const profile = join(folder, 'profile')
  await mkdir(join(profile, 'user'), { recursive: true })
  const level = '<prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>0</value></prop>'
  await writeFile(
    join(profile, 'user', 'registrymodifications.xcu'),
    `<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Office.Common/Security/Scripting">${level}</item></oor:items>`,
  )
  const program = (await findSoffice({ PATH: process.env.PATH ?? '' })) ?? 'soffice'
  const args = [`-env:UserInstallation=${pathToFileURL(profile)}`, '--headless', '--norestore', path]
  const options = { stdio: 'ignore', env: { ...process.env, SAL_USE_VCLPLUGIN: 'svp' } } as const
  // With a new profile it sets this up, and asks for another start with 81.
  const run = () => spawn(program, args, options)
  let office = run()
  office.once('exit', (code) => {
    if (code === 81) office = run()
  })
  try {
    await work()
  } finally {
    const ended = once(office, 'exit')
    office.kill('SIGKILL')
    await ended
  }
}

/** An OpenDocument text whose macro writes a file and requests an address when the document is opened. */
function withMacro({ written, address }: { written: string; address: string }): Promise<Buffer> {
  const office = 'urn:oasis:names:tc:opendocument:xmlns'
  const names = ['office', 'text', 'script', 'manifest'].map(
    (name) => `xmlns:${name}="${office}:${name}:1.0"`,
  )
  const xlink = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
  const dom = 'xmlns:dom="http://www.w3.org/2001/xml-events" xmlns:ooo="http://openoffice.org/2004/office"'
  const library = 'xmlns:library="http://openoffice.org/2000/library"'
  const module = 'xmlns:script="http://openoffice.org/2000/script" script:language="StarBasic"'
  const type = 'application/vnd.oasis.opendocument.text'
  const macro = 'vnd.sun.star.script:Standard.Module1.Main?language=Basic&amp;location=document'
  const listener = `<script:event-listener script:language="ooo:script" script:event-name="dom:load" xlink:href="${macro}" xlink:type="simple"/>`
  const basic = [
    'Sub Main',
    `Open "${written}" For Output As #1`,
    'Print #1, "macro"',
    'Close #1',
    `Shell("/bin/sh", 0, "-c 'curl -s ${address}'")`,
    'End Sub',
  ]
  const files: Record<string, string> = {
    'content.xml': `<office:document-content ${[...names, xlink, dom].join(' ')} office:version="1.2"><office:scripts><office:script script:language="ooo:Basic"/><office:event-listeners>${listener}</office:event-listeners></office:scripts><office:body><office:text><text:p>Text</text:p></office:text></office:body></office:document-content>`,
    'Basic/script-lc.xml': `<library:libraries ${library}><library:library library:name="Standard" library:link="false"/></library:libraries>`,
    'Basic/Standard/script-lb.xml': `<library:library ${library} library:name="Standard" library:readonly="false" library:passwordprotected="false"><library:element library:name="Module1"/></library:library>`,
    'Basic/Standard/Module1.xml': `<script:module ${module} script:name="Module1">${basic.join('\n').replaceAll('"', '&quot;')}</script:module>`,
  }
  const entry = (path: string, media: string) =>
    `<manifest:file-entry manifest:full-path="${path}" manifest:media-type="${media}"/>`
  const entries = [entry('/', type), ...Object.keys(files).map((path) => entry(path, 'text/xml'))]
  const manifest = `<manifest:manifest ${names[3]} manifest:version="1.2">${entries.join('')}</manifest:manifest>`
  return zipped({ mimetype: type, 'META-INF/manifest.xml': manifest, ...files })
}
