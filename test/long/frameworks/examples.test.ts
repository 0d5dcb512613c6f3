import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { freePort } from '../../support/servers/free-port.ts'
import { PROJECT, type Service, startService } from '../../support/service.ts'
import { copyExample, type Desk, modernNode, openDesk } from './desk.ts'

const TSC = join(PROJECT, 'node_modules', '.bin', 'tsc')
const TSC_OPTIONS =
  '--ignoreConfig --strict --noEmit --skipLibCheck --target es2023 --module preserve --jsx react-jsx'

/** The images of a page that Sluice delivers, when all of them are shown. */
const IMAGES = `(async () => {
  for (const img of document.images) img.loading = 'eager'
  await Promise.all([...document.images].map((img) => img.decode()))
  return [...document.images].map(({ currentSrc }) => currentSrc).filter((src) => src.includes('/v1/image/'))
})()`

describe('long: an example of a framework, installed, built and opened in Chromium', function () {
  this.timeout(30 * 60_000)
  let tab: Page
  let desk: Desk
  let service: Service
  let env: Record<string, string>
  before(async () => {
    ;[tab, desk, service] = await Promise.all([startPage(), openDesk('.'), startService()])
    const file = { name: 'chair.png', bytes: await picture({ width: 1200, height: 800 }) }
    await uploadOne(service, file, { path: 'photos' })
    env = {
      ...(await modernNode(desk)),
      SLUICE_URL: service.url,
      SLUICE_SECRET: service.tokens.secretClientToken,
    }
    await tab.setViewportSize({ width: 1000, height: 800 })
  })
  after(async () => {
    await tab.context().close()
    await desk.remove()
    await service.stop()
  })

  const cases: Array<[name: string, start: string, images: Array<{ query: string; size: number[] }>]> = [
    ['nextjs', 'npm start', [{ query: '?ar=3:2&w=384&f=auto', size: [384, 256] }]],
    [
      'nuxt',
      'npm start',
      [
        { query: '?w=300&h=200&f=auto&bg=ffffff&blur=2&fit=contain', size: [300, 200] },
        { query: '?w=200&f=webp', size: [200, 133] },
      ],
    ],
    [
      'astro',
      'npm run preview',
      [
        { query: '?w=300&h=200&f=auto&fit=cover&func=top-left', size: [300, 200] },
        { query: '?w=200&f=avif', size: [200, 133] },
      ],
    ],
  ]
  for (const [name, start, images] of cases)
    it(`examples/${name} shows images in the width of their place`, async () => {
      const cwd = await copyExample(desk, name)
      await desk.run('npm install --no-audit --no-fund', { cwd, env })
      // The loader, the provider and the service as the framework declares them.
      await cp(join(import.meta.dirname, 'types', `${name}.ts`), join(desk.folder, cwd, 'as-declared.ts'))
      await desk.run(`${TSC} ${TSC_OPTIONS} as-declared.ts`, { cwd })
      await desk.run('npm run build', { cwd, env })
      const port = String(await freePort())
      const command = start.startsWith('npm run') ? `${start} -- --port ${port}` : start
      await desk.start(command, { cwd, env: { ...env, PORT: port, HOST: 'localhost' } })
      await eventually(() => fetch(`http://localhost:${port}`))
      await tab.goto(`http://localhost:${port}`)
      const shown = (await tab.evaluate(IMAGES)) as string[]
      expect(shown.map((src) => new URL(src).search)).to.deep.equal(images.map(({ query }) => query))
      for (const [i, src] of shown.entries()) {
        const { width, height } = await sharp(await (await fetch(src)).arrayBuffer()).metadata()
        expect([width, height], src).to.deep.equal(images[i]?.size)
      }
    })
})
