import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { signFolderCookie } from '../../../client/index.ts'
import type { UrlKey } from '../../../src/core/signing/signed-url.ts'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { film } from '../../support/media/videos.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../support/service.ts'

const execute = promisify(execFile)
const FOLDER = 'galleries/42'

/** The block of code of the guide in which these words are. */
async function blockOf(words: string): Promise<string> {
  const text = await readFile(join(PROJECT, 'docs', 'how-to', 'signed-cookies.md'), 'utf8')
  const found = [...text.matchAll(/```\w+\n([\s\S]*?)```/g)].find(([, code = '']) => code.includes(words))
  if (found?.[1] === undefined) throw new Error(`the guide has no block of code with ${words}`)
  return found[1]
}

onOneBackend('the guide of signed cookies', (start) => {
  let service: Service
  let key: UrlKey
  let token: string
  let photo: string
  let app: Server
  let origin: string
  before(async () => {
    app = createServer((_, res) => {
      res.setHeader('Content-Type', 'text/html')
      res.end('<!doctype html><title>Gallery</title><video muted></video>')
    }).listen(0, '127.0.0.1')
    await once(app, 'listening')
    // Another site than that of the service.
    origin = `http://localhost:${(app.address() as AddressInfo).port}`
    service = await start({ env: { CORS_ORIGINS: origin, MEDIA_JOBS_RUN_IN: 'web' } })
    token = service.tokens.clientToken
    key = (await service.app.clients.addUrlKey('first')).urlKey
    await service.app.clients.setRules('first', { privateFolders: ['galleries'] })
    const { src } = await uploadOne(
      service,
      { name: 'a.png', bytes: await picture({ width: 90 }) },
      { path: FOLDER },
    )
    photo = new URL(src).pathname
  })
  after(() => app.close())

  const statusWith = async (cookie: string) =>
    (await exchange(service, `${photo}?w=30`, { headers: { Cookie: cookie } })).status
  const withValues = (code: string) =>
    code
      .replaceAll('pub_64nb…', token)
      .replace('VERSION=1', `VERSION=${key.version}`)
      .replace('U4h55TpraFqerk…', key.key)
      .replaceAll(/https:\/\/files\.example\.(?:com|net)/g, service.url)

  it('signs a cookie in a shell and in Python', async () => {
    const shell = withValues(await blockOf('openssl dgst'))
      .replace('http://localhost:3000', service.url)
      .replace('….jpg', `${photo.split('/').at(-1)}`)
    await execute('bash', ['-ec', shell])
    const python = `${await blockOf('def folder_cookie')}
print(folder_cookie(${[token, key.version, key.key, FOLDER, 600].map((value) => JSON.stringify(value)).join(', ')}))`
    const { stdout } = await execute('python3', ['-c', python])
    expect(await statusWith(`sluice_folder_42=${stdout.trim()}`)).to.equal(200)
    expect(await statusWith(`sluice_folder_42=x${stdout.trim()}`)).to.equal(403)
  })

  it('signs a cookie in a server with Express', async () => {
    const code = (await blockOf("app.get('/galleries/:id'")).replace(/^import.*\n/, '')
    let handler = async (_req: object, _res: object) => {}
    const register = (_path: string, given: typeof handler) => {
      handler = given
    }
    const env = { SLUICE_TOKEN: token, SLUICE_URL_KEY: key.key }
    new Function('app', 'signFolderCookie', 'process', code)({ get: register }, signFolderCookie, { env })
    let cookie = ''
    await handler(
      { params: { id: '42' } },
      { cookie: (name: string, value: string) => (cookie = `${name}=${value}`), sendFile: () => {} },
    )
    expect(await statusWith(cookie)).to.equal(200)
  })

  it('shows a picture and plays a stream on a page of another site, with the cookie of a link', async function () {
    this.timeout(180_000)
    const bytes = await film({ colours: ['red', 'green', 'blue'], width: 160, height: 120 })
    const { src } = await uploadOne(service, { name: 'film.mp4', bytes }, { path: FOLDER })
    const stream = `${new URL(src).pathname}?hls`
    const { link, name, value } = await signFolderCookie({ token, key, folder: FOLDER, expiresIn: 600 })
    const Cookie = `${name}=${value}`
    const first = await exchange(service, `${stream}&wait=30`, { headers: { Cookie } })
    expect(first.status, first.body.toString()).to.equal(302)
    const [fetchLink, play] = await Promise.all([blockOf('fetch(`https'), blockOf('new Hls(')])
    const hlsJs = createRequire(join(PROJECT, 'dashboard', 'package.json')).resolve('hls.js/dist/hls.min.js')
    const page = await startPage()
    try {
      await page.goto(`${origin}/`)
      await page.evaluate(`${await readFile(hlsJs, 'utf8')};undefined`)
      const show = `(async () => {
        const img = new Image()
        img.src = ${JSON.stringify(`${service.url}${photo}?w=30`)}
        await new Promise((done) => { img.onload = img.onerror = done })
        // The browser has the picture in its cache, from a request without CORS.
        const read = await fetch(img.src, { credentials: 'include' })
        return [img.naturalWidth, read.status]
      })()`
      expect(await page.evaluate(show)).to.deep.equal([0, 403])
      await page.evaluate(`(async () => {
        const link = ${JSON.stringify(link)}
        ${withValues(fetchLink)}
      })()`)
      expect(await page.evaluate(show)).to.deep.equal([30, 200])
      const playing = withValues(play).replace(/loadSource\('.*'\)/, `loadSource('${service.url}${stream}')`)
      const played = `(async () => {
        const video = document.querySelector('video')
        const loaded = new Promise((done) => video.addEventListener('loadeddata', done, { once: true }))
        ${playing}
        const failed = new Promise((_, fail) =>
          hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && fail(new Error(details))))
        await Promise.race([loaded, failed])
        const { videoWidth, duration } = video
        hls.destroy()
        return [videoWidth, Math.round(duration)]
      })()`
      expect(await page.evaluate(played)).to.deep.equal([160, 3])
    } finally {
      await page.context().close()
    }
  })
})
