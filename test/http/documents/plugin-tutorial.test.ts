import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { pluginFolder } from '../../support/drop-ins.ts'
import { picture } from '../../support/media/images.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { run } from '../../support/servers/process.ts'
import { PROJECT, type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** The code of a part of a document, in its order. */
function blocksOf(markdown: string, language: string): string[] {
  return [...markdown.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, text = '']) => text,
  )
}

describe('docs/tutorial/first-plugin.md', () => {
  const start = stoppedAtTheEnd(startService)
  /** Where a reader would try it. */
  let desk: string
  let dataDir: string
  let plugins: string[]
  let shell: string[]
  let claim: string
  let service: Service
  /** The photo's path in delivery URLs. */
  let path: string
  before(async () => {
    const tutorial = await readFile(join(PROJECT, 'docs', 'tutorial', 'first-plugin.md'), 'utf8')
    const [first = '', second = ''] = blocksOf(tutorial, 'js')
    const reference = await readFile(join(PROJECT, 'docs', 'reference', 'plugin-api.md'), 'utf8')
    const [, awaited = ''] = /### Parameters that wait for a plugin\n([\s\S]*?)\n## /.exec(reference) ?? []
    const [params = ''] = blocksOf(awaited, 'js')
    plugins = [first, second]
    claim = params
    shell = blocksOf(tutorial, 'sh')
    expect(plugins.every((text) => text.startsWith('// plugins/image-scanlines.js\n'))).to.equal(true)
    expect(shell).to.have.length(2)
    ;[desk, dataDir] = await Promise.all([temporaryFolder(), temporaryFolder()])
    await writeFile(join(desk, 'photo.jpg'), await picture({ width: 600, height: 400, format: 'jpeg' }))
  })
  after(async () => {
    await rm(desk, { recursive: true })
  })

  /** Runs a block of the tutorial as a reader would who has put its plugin in place; what it prints. */
  async function follow(step: number): Promise<string> {
    const folder = await pluginFolder({ 'image-scanlines.js': plugins[step] ?? '' })
    service = await start({ dataDir, env: { PLUGINS_DIR: folder } })
    await rm(folder, { recursive: true })
    const address = `SRC=${service.url}${path ?? ''}\n`
    const commands = (shell[step] ?? '').replaceAll('http://localhost:3000', service.url)
    const { child, ended, output } = run({
      program: 'sh',
      script: ['-ec', `cd ${desk}\n${address}${commands}`],
      env: { SECRET: service.tokens.secretClientToken },
    })
    let printed = ''
    child.stdout?.on('data', (text: string) => {
      printed += text
    })
    expect(await ended, output()).to.equal(0)
    return printed
  }

  /** How bright the rows are, from the top, in a place where the picture is red: its red, 0 to 255. */
  async function rows(bytes: Uint8Array, count: number): Promise<number[]> {
    const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true })
    return Array.from({ length: count }, (_, y) => data[(y * info.width + 20) * info.channels] ?? -1)
  }

  /** How many rows are dark, and how many of them at most lie together. */
  function lines(bright: readonly number[]): { dark: number; longest: number } {
    const text = bright.map((red) => (red < 205 ? 'd' : ' ')).join('')
    const runs = text.split(/ +/).map(({ length }) => length)
    return { dark: text.replaceAll(' ', '').length, longest: Math.max(...runs) }
  }

  it('renders an image with lines after its first three steps', async () => {
    await follow(0)
    const [{ src }] = JSON.parse(await readFile(join(desk, 'upload.json'), 'utf8'))
    path = new URL(src).pathname
    const made = await readFile(join(desk, 'lines.webp'))
    expect(await sharp(made).metadata()).to.include({ format: 'webp', width: 300, height: 200 })
    expect(lines(await rows(made, 40))).to.deep.equal({ dark: 20, longest: 2 })
    await service.stop({ keepData: true })
  })

  it('lets callers choose a value after its fourth step', async () => {
    const printed = await follow(1)
    const bright = await rows(await readFile(join(desk, 'thick.png')), 40)
    expect(lines(bright)).to.deep.equal({ dark: 20, longest: 10 })
    // A fifth of the light is left of it.
    expect(Math.min(...bright)).to.be.closeTo(51, 4)
    const expected = 'expected a number from 1 to 50 px (no value means 2) for scanlines'
    expect(printed).to.include(`${expected} but received \\"99\\"`)
    // The URL of the first three steps still works.
    const again = await exchange(service, `${path}?w=300&scanlines&f=png`)
    expect(lines(await rows(again.body, 40))).to.deep.equal({ dark: 20, longest: 2 })
    expect(printed).to.match(/\{"plugin":"image-scanlines","name":"scanlines",/)
    const near = jsonOf(await exchange(service, `${path}?scanline=4`))
    expect(near.detail).to.match(/did you mean "scanlines"\?$/)
    const none = await exchange(service, `${path}?w=30&scanlines=4&scanlines_strength=0`)
    const plain = await exchange(service, `${path}?w=30`)
    expect(none.headers.etag).to.equal(plain.headers.etag)
  })

  it('shows how a plugin claims a reserved parameter', async () => {
    const text = `export default { name: 'cut-out', engine: 'sharp', phase: 'effect', ${claim} transform: (image) => image.negate() }`
    const folder = await pluginFolder({ 'cut-out.js': text })
    const offering = await start({ dataDir: await temporaryFolder(), env: { PLUGINS_DIR: folder } })
    await rm(folder, { recursive: true })
    const { image } = jsonOf(await exchange(offering, '/v1/parameters')) as { image: Array<{ name: string }> }
    expect(image.map(({ name }) => name)).to.include('remove_background')
    expect((await exchange(service, `${path}?rm_bg`)).status).to.equal(501)
  })
})
