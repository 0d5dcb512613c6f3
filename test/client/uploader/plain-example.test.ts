import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { dropFiles, startPage } from '../../support/peers/browser-pages.ts'
import { installClient } from '../../support/programs/client-package.ts'
import { freePort } from '../../support/servers/free-port.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'

onOneBackend('examples/plain in Chromium', (start) => {
  let tab: Page
  let desk: string
  let example: ChildProcess
  let service: Service
  let url: string
  before(async () => {
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    ;[tab, desk, service] = await Promise.all([startPage(), installClient(), start()])
    await cp(join(PROJECT, 'examples', 'plain'), desk, { recursive: true })
    // As the build does it.
    const bundle = [
      join(PROJECT, 'scripts', 'bundle-uploader.js'),
      join(desk, 'node_modules', 'sluice', 'dist', 'client'),
    ]
    const { status, stderr } = spawnSync(process.execPath, bundle, { encoding: 'utf8' })
    expect(status, stderr).to.equal(0)
    example = spawn(process.execPath, ['server.js'], {
      cwd: desk,
      env: { PORT: port, SLUICE_URL: service.url, SLUICE_SECRET: service.tokens.secretClientToken },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(example.stdout as NonNullable<ChildProcess['stdout']>, 'data')
  })
  after(async () => {
    await tab.context().close()
    const closed = once(example, 'close')
    example.kill()
    await closed
    await rm(desk, { recursive: true })
  })

  itLong('uploads a dropped image and shows it, and a refusal of the service', async () => {
    await writeFile(join(desk, 'chair.png'), await picture({ width: 600, height: 400 }))
    await writeFile(join(desk, 'page.pdf'), 'this is no PDF')
    await tab.goto(url)
    await dropFiles(tab, 'sluice-uploader', [join(desk, 'chair.png'), join(desk, 'page.pdf')])
    await eventually(async () => {
      const size = `(async () => {
        const img = document.querySelector('.images img')
        await img.decode()
        return [img.alt, img.naturalWidth, img.naturalHeight]
      })()`
      expect(await tab.evaluate(size)).to.deep.equal(['chair.png', 320, 240])
    })
    await eventually(async () => {
      const texts = `[...document.querySelector('sluice-uploader').shadowRoot.querySelectorAll('li .status')].map((one) => one.textContent)`
      const [done, refused] = (await tab.evaluate(texts)) as string[]
      expect(done).to.match(/ · Uploaded$/)
      expect(refused).to.equal('This type of file is not accepted. Choose one of: images, videos, PDF.')
    })
  })
})
