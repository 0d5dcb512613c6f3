import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../support/backends.ts'
import { firstOwner, PASSWORD } from '../../support/console/browser.ts'
import { picture } from '../../support/media/images.ts'
import { film, sound } from '../../support/media/videos.ts'
import { ADMIN_PASSWORD } from '../../support/requests/admin.ts'
import { uploadOne } from '../../support/requests/client.ts'
import type { Remote } from '../../support/requests/remote.ts'
import { fetchingFrom, fileServer } from '../../support/requests/remote-files.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const execute = promisify(execFile)

/** The blocks of shell commands of a page. */
async function blocksOf(page: string): Promise<string[]> {
  const text = await readFile(join(PROJECT, page), 'utf8')
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, commands = '']) => commands)
}

/** The shell commands of a page, but those that start and test the project. */
async function commandsOf(page: string): Promise<string> {
  return (await blocksOf(page)).filter((commands) => !commands.startsWith('npm ')).join('\n')
}

/** The requests of a guide to a running server. */
async function requestsOf(guide: string): Promise<string> {
  const blocks = await blocksOf(join('docs', 'how-to', guide))
  const found = blocks.filter((commands) => /^ *curl .*(?:\\\n.*)*(?:localhost:3000|\$SRC)/m.test(commands))
  expect(found, guide).to.not.deep.equal([])
  return found.join('\n')
}

onOneBackend('the commands of the documentation', (start) => {
  /** A folder like that of a clone, as far as the commands need it. */
  let desk: string
  let service: Service
  let other: Remote
  before(async () => {
    other = await fileServer({ '/photo.jpg': await picture({ width: 400, format: 'jpeg' }) })
    service = await start({ env: { MEDIA_JOBS_RUN_IN: 'web', ...fetchingFrom(other) } })
    desk = await temporaryFolder()
    await mkdir(join(desk, 'data'))
    await writeFile(join(desk, 'data', 'credentials.json'), JSON.stringify(service.tokens))
    await cp(join(PROJECT, 'docs', 'images'), join(desk, 'docs', 'images'), { recursive: true })
    await writeFile(join(desk, 'photo.jpg'), await picture({ width: 900, height: 600, format: 'jpeg' }))
  })
  after(() => Promise.all([rm(desk, { recursive: true }), other.close()]))

  /**
   * Runs commands as a reader would who pastes them; what they print.
   *
   * @param fails whether an error of HTTP is one of the shell
   */
  async function follow(
    commands: string,
    { fails = 'on errors', server = service }: { fails?: 'on errors' | 'never'; server?: Service } = {},
  ): Promise<string> {
    await writeFile(join(desk, '.curlrc'), fails === 'on errors' ? 'fail-with-body\n' : '')
    const script = commands.replaceAll('http://localhost:3000', server.url)
    const env = { ...process.env, CURL_HOME: desk, SECRET: service.tokens.secretClientToken }
    const { stdout, stderr } = await execute('sh', ['-ec', script], { cwd: desk, env })
    return stdout + stderr
  }

  const metadata = async (name: string) => sharp(await readFile(join(desk, name))).metadata()

  it('upload, transform and delete as in the README', async () => {
    const printed = await follow(await commandsOf('README.md'))
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
    await follow(commands.replace('SRC=…', `SRC=${src}`))
    expect(await metadata('whole.png')).to.include({ format: 'png', width: 400, height: 300 })
    expect(await metadata('banner.jpg')).to.include({ width: 800, height: 200 })
    expect(await metadata('best.avif')).to.include({ format: 'heif', width: 600 })
  })

  describe('of the guides', () => {
    /** The original and the address of a new file. */
    const uploaded = (name: string, bytes: Buffer) =>
      uploadOne(service, { name, bytes }, { path: 'shop/2025' })
    const photo = async () => uploaded('a.jpg', await picture({ format: 'jpeg', width: 900 }))

    /** Runs the requests of a guide, with these texts in place of its own. */
    async function followGuide(guide: string, ...fills: ReadonlyArray<readonly [string, string]>) {
      const filled = fills.reduce(
        (commands, [own, given]) => {
          expect(commands, guide).to.include(own)
          return commands.replaceAll(own, given)
        },
        await requestsOf(guide),
      )
      // Some guides tell curl to fail by themselves.
      return follow(filled, { fails: filled.includes('curl -f') ? 'never' : 'on errors' })
    }

    it('change, copy, list and delete files', async () => {
      const { s3PathOriginal } = await photo()
      const stored = ['<s3PathOriginal>', s3PathOriginal] as const
      expect(await followGuide('focal-point.md', stored)).to.include('"focalPoint":{"x":0.3,"y":0.4}')
      expect(await followGuide('folders.md')).to.include('"name":"2025"')
      await followGuide('replace-files.md', stored)
      await followGuide('move-from-other-services.md', [
        'image/jpeg/7JAiMJ5xg1xH6JYSiPjo5R.jpg',
        s3PathOriginal,
      ])
      const { clientToken } = service.tokens
      const alias = await fetch(`${service.url}/v1/image/alias/${clientToken}/products/chair.jpg`)
      expect(alias.status).to.equal(200)
      const copied = (await requestsOf('copy-and-move.md')).split('\n').slice(0, 2).join('\n')
      const printed = await follow(copied.replace(...stored))
      expect(printed).to.include('archive/2026/')
      expect(await followGuide('manage-files.md', stored))
        .to.match(/"tags":\["red"\]/)
        .and.match(/"sku":"A-1"/)
        .and.match(/"status":"deleted"/)
      await followGuide('copy-and-move.md', ['<s3PathOriginal>', (await photo()).s3PathOriginal])
    })

    it('archive files', async () => {
      const { s3PathOriginal } = await photo()
      await followGuide('zip.md', ['7JAiMJ5xg1xH6JYSiPjo5R.jpg', s3PathOriginal])
      const { stdout } = await execute('unzip', ['-Z1', join(desk, 'photos.zip')])
      expect(stdout).to.match(/^original\.jpg\nsmall\.webp\n/)
    })

    it('upload from browsers, in advance, and from other servers', async () => {
      const advance = await followGuide('derivatives-in-advance.md')
      expect(advance).to.match(/w=300/)
      const printed = await followGuide('browser-uploads.md', ['curl -T', ': curl -T'])
      const { url } = JSON.parse(/\{"url".*?\}/.exec(printed)?.[0] ?? '')
      expect(await followGuide('browser-uploads.md', ['<url from the response>', url])).to.include(
        '"originalName":"photo.jpg"',
      )

      const from = other.url('/photo.jpg')
      await service.app.clients.setRules('first', { fetchHosts: ['127.0.0.1'] })
      const fetched = await followGuide(
        'remote-files.md',
        ['https://example.com/photo.jpg', from],
        ['https%3A%2F%2Fexample.com%2Fphoto.jpg', encodeURIComponent(from)],
        ['CLIENT_TOKEN=pub_…', `CLIENT_TOKEN=${service.tokens.clientToken}`],
        ['npx sluice client set', ': npx sluice client set'],
      )
      expect(fetched).to.include('from/afar/')
      expect(await metadata('small.webp')).to.include({ format: 'webp', width: 300 })
    })

    it('sign URLs', async () => {
      await service.app.clients.addUrlKey('first')
      const { src } = await photo()
      expect(await followGuide('signed-delivery.md', ['<src>', src])).to.match(/w=300&.*w=600&/)
    })

    it('manage clients and read files as a member', async () => {
      const operated = await start({ env: { ADMIN_PASSWORD } })
      const [signIn = '', ...rest] = (await requestsOf('clients-and-secrets.md')).split('\n')
      const { token } = JSON.parse(
        await follow(`${signIn.replace('…', ADMIN_PASSWORD)} -s`, { server: operated }),
      )
      const clients = rest.join('\n').replaceAll('adm_…', token)
      expect(await follow(clients, { server: operated })).to.include('"presetsOnly":true')
      await firstOwner(service, 'ada@example.com')
      expect(await followGuide('console.md', ['"password":"…"', `"password":"${PASSWORD}"`])).to.include(
        '"files":[',
      )
    })

    it('convert videos and sound', async () => {
      const movie = await uploaded('a.mp4', await film({ width: 720, height: 480 }))
      await followGuide('video-and-hls.md', ['SRC=…', `SRC=${movie.src}`])
      expect(await metadata('first.jpg')).to.include({ format: 'jpeg', width: 300 })
      expect(await metadata('later.webp')).to.include({ format: 'webp', width: 400, height: 400 })
      const tone = await uploaded('a.mp3', await sound({ format: 'mp3', seconds: 100 }))
      await followGuide('audio.md', ['SRC=…', `SRC=${tone.src}`])
      expect(JSON.parse(await readFile(join(desk, 'peaks.json'), 'utf8'))).to.be.an('object')
      expect(await metadata('wave.png')).to.include({ width: 800, height: 120 })
    })
  })
})
