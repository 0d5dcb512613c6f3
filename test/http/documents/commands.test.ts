import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { run } from '../../support/servers/process.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** The shell commands of a page, but those that start and test the project. */
async function commandsOf(page: string): Promise<string> {
  const text = await readFile(join(PROJECT, page), 'utf8')
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, commands = '']) => commands)
  return blocks.filter((commands) => !commands.startsWith('npm ')).join('\n')
}

onOneBackend('the commands of the documentation', (start) => {
  /** A folder like that of a clone, as far as the commands need it. */
  let desk: string
  let service: Service
  before(async () => {
    service = await start({})
    desk = await temporaryFolder()
    await mkdir(join(desk, 'data'))
    await writeFile(join(desk, 'data', 'credentials.json'), JSON.stringify(service.tokens))
    await cp(join(PROJECT, 'docs', 'images'), join(desk, 'docs', 'images'), { recursive: true })
    await writeFile(join(desk, 'photo.jpg'), await picture({ width: 900, height: 600, format: 'jpeg' }))
  })
  after(() => rm(desk, { recursive: true }))

  /** Runs commands as a reader would who pastes them; what they print. `fails`: whether an error of HTTP is one of the shell. */
  async function follow(commands: string, { fails }: { fails: 'on errors' | 'never' }): Promise<string> {
    await writeFile(join(desk, '.curlrc'), fails === 'on errors' ? 'fail-with-body\n' : '')
    const script = commands.replaceAll('http://localhost:3000', service.url)
    const { ended, output } = run({
      program: 'sh',
      script: ['-ec', `cd ${desk}\n${script}`],
      env: { CURL_HOME: desk },
    })
    expect(await ended, output()).to.equal(0)
    return output()
  }

  const metadata = async (name: string) => sharp(await readFile(join(desk, name))).metadata()

  it('upload, transform and delete as in the README', async () => {
    const printed = await follow(await commandsOf('README.md'), { fails: 'on errors' })
    expect(await metadata('small.jpg')).to.include({ format: 'jpeg', width: 300, height: 200 })
    expect(printed)
      .to.match(/"originalName":"transformations\.webp"/)
      .and.match(/"derivatives":1\}/)
  })

  it('render the images of the tutorial, and show its error', async () => {
    const printed = await follow(await commandsOf('docs/tutorial/getting-started.md'), { fails: 'never' })
    expect(await metadata('original.jpg')).to.include({ format: 'jpeg', width: 900 })
    expect(await metadata('small.webp')).to.include({ format: 'webp', width: 300, height: 200 })
    expect(await metadata('round.webp')).to.include({ width: 200, height: 200, hasAlpha: true })
    expect(printed)
      .to.match(/"code":"bad_parameter"/)
      .and.match(/"derivatives":2\}/)
  })

  it('show what image parameters do', async () => {
    const { src } = await uploadOne(service, {
      name: 'photo.jpg',
      bytes: await readFile(join(desk, 'photo.jpg')),
    })
    const commands = await commandsOf('docs/reference/image-parameters.md')
    await follow(commands.replace('SRC=…', `SRC=${src}`), { fails: 'on errors' })
    expect(await metadata('whole.png')).to.include({ format: 'png', width: 400, height: 300 })
    expect(await metadata('banner.jpg')).to.include({ width: 800, height: 200 })
    expect(await metadata('best.avif')).to.include({ format: 'heif', width: 600 })
  })
})
