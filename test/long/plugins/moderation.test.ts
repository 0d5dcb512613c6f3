import { execFile } from 'node:child_process'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import sharp from 'sharp'
import { PROJECT } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

describe('long: the example plugin for moderation with the packages of npm', function () {
  this.timeout(600_000)
  let folder: string
  before(async () => {
    folder = await temporaryFolder()
    await cp(join(PROJECT, 'examples/plugins/moderation'), folder, { recursive: true })
    await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder })
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('classifies a photo', async () => {
    const fileOf = (name: string) => pathToFileURL(join(folder, name)).href
    const { classify } = await import(fileOf('classifier.mjs'))
    const { default: plugin } = await import(fileOf('index.js'))
    const photo = sharp(join(PROJECT, 'test/pipeline/image/faces/photos/astronaut.webp'))
    const { side } = plugin.options
    const bytes = await photo.resize(side, side, { fit: 'fill' }).png().toBuffer()
    const classes = await classify(bytes, plugin.options)
    expect(classes).to.have.all.keys('neutral', 'drawing', 'sexy', 'porn', 'hentai')
    expect(classes.neutral).to.be.above(0.9)
    // The second image needs no other process.
    expect(await classify(bytes, plugin.options)).to.deep.equal(classes)
  })
})
