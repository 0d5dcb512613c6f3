import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { pluginFolder } from '../../support/drop-ins.ts'
import { eventually } from '../../support/eventually.ts'
import { colourAt, picture } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { PROJECT, type Service } from '../../support/service.ts'

onOneBackend('the plugins of docs/reference/plugin-api.md', (start) => {
  let folder: string
  let service: Service
  before(async () => {
    folder = await pluginFolder(
      plugins(await readFile(join(PROJECT, 'docs', 'reference', 'plugin-api.md'), 'utf8')),
    )
    service = await start({ env: { PLUGINS_DIR: folder } })
  })
  after(() => rm(folder, { recursive: true }))

  /** An upload after its scan by the scanner of the document. */
  const scanned = async (name: string) => {
    const record = await uploadOne(service, { name, bytes: await picture() })
    await eventually(async () => expect((await fetch(record.src)).status).not.to.equal(423))
    return record
  }

  it('turn an image sepia', async () => {
    const { src } = await scanned('a.png')
    const response = await fetch(`${src}?w=100&sepia`)
    expect(response.status).to.equal(200)
    // Red, of which 39, 35 and 27 percent are red, green and blue now.
    const { r, g, b } = await colourAt(new Uint8Array(await response.arrayBuffer()), 10, 10)
    expect([r, g, b]).to.deep.equal([99, 89, 68])
  })

  it('keep the brightest part of an image', async () => {
    const { src } = await scanned('a.png')
    const response = await fetch(`${src}?z=4&w=40&h=30&func=face`)
    expect(response.headers.get('x-sluice-transform')).to.equal(null)
    const bytes = new Uint8Array(await response.arrayBuffer())
    // White, below on the left.
    expect(await colourAt(bytes, 3, 27)).to.deep.equal({ r: 255, g: 255, b: 255, a: 255 })
    expect(await colourAt(bytes, 36, 27)).to.deep.equal({ r: 255, g: 255, b: 255, a: 255 })
  })

  it('do not deliver programs', async () => {
    const { src } = await scanned('a.exe')
    expect((await fetch(src)).status).to.equal(403)
  })

  it('log an upload', async () => {
    const { s3PathOriginal, size } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    await eventually(() => {
      const line = service.log.lines.find(({ message }) => message === 'a new file')
      expect(line?.fields).to.include({ size }).and.have.property('key')
      expect(service.log.lines.map(({ fields }) => fields.key)).to.include(s3PathOriginal)
    })
  })
})

/** The JavaScript of a document that begins with its own file name: `// plugins/image-sepia.js`. */
function plugins(markdown: string): Record<string, string> {
  const blocks = markdown.matchAll(/```js\n\/\/ plugins\/(\S+)[^\n]*\n([\s\S]*?)```/g)
  return Object.fromEntries([...blocks].map(([, name = '', text = '']) => [name, text]))
}
