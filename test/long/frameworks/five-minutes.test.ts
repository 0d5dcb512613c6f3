import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { dropFiles, startPage } from '../../support/peers/browser-pages.ts'
import { stepsOf } from '../../support/programs/how-to-page.ts'
import { freePort } from '../../support/servers/free-port.ts'
import { type Desk, openDesk } from './desk.ts'

/** Commands that run until the reader stops them. */
const SERVER = /^(?:PORT=\d+ )?(?:npx sluice start|npm run dev|node (?:--\S+ )*server\.js)$/
/** Ports in the guides. Other programs of this machine may have them. */
const PORTS = /\b(?:3000|3001|8080)\b/g

/** The picture of a page that is delivered by Sluice, as soon as it is shown, and the text of the uploader. */
const SHOWN = `(() => {
  const img = [...document.images].find(({ currentSrc, complete, naturalWidth }) =>
    currentSrc.includes('/v1/image/upload/') && complete && naturalWidth > 0)
  const { textContent } = document.querySelector('sluice-uploader').shadowRoot
  return { src: img?.currentSrc ?? '', uploader: textContent }
})()`

describe('long: the guide of a framework, from an empty folder to an uploaded and resized picture', function () {
  // It takes one to three minutes, most of which npm needs.
  this.timeout(30 * 60_000)
  let tab: Page
  let desk: Desk
  beforeEach(async () => {
    ;[tab, desk] = await Promise.all([startPage(), openDesk('sluice')])
  })
  afterEach(async () => {
    await tab.context().close()
    await desk.remove()
  })

  for (const page of ['nextjs.md', 'vite.md'])
    it(`works with only the lines of docs/how-to/${page}`, async () => {
      const ports = new Map<string, string>()
      for (const port of ['3000', '3001', '8080']) ports.set(port, String(await freePort()))
      const onFreePorts = (text: string) => text.replace(PORTS, (port) => ports.get(port) ?? port)
      const times: string[] = []
      const timed = async <T>(name: string, work: () => Promise<T>) => {
        const since = performance.now()
        const result = await work()
        times.push(`${((performance.now() - since) / 1000).toFixed(1).padStart(6)} s  ${name}`)
        return result
      }
      // The default port of Sluice, and of Next.js.
      const env = { PORT: ports.get('3000') ?? '' }
      let cwd = '.'
      let url = ''
      const since = performance.now()
      for (const step of await stepsOf(page)) {
        if ('file' in step) {
          const path = join(desk.folder, cwd, step.file)
          await mkdir(dirname(path), { recursive: true })
          await writeFile(path, onFreePorts(step.code))
          continue
        }
        if ('options' in step) {
          const path = join(desk.folder, cwd, step.options)
          const before = await readFile(path, 'utf8')
          const after = before.replace(/(?<=: NextConfig = \{\n)/, step.line)
          expect(after, before).to.not.equal(before)
          await writeFile(path, after)
          continue
        }
        const command = onFreePorts(step.command)
        const folder = /^cd (\S+)$/.exec(command)?.[1]
        if (folder !== undefined) cwd = folder
        else if (SERVER.test(command)) url = await timed(command, () => desk.start(command, { cwd, env }))
        else await timed(command, () => desk.run(command, { cwd, env }))
      }
      const photo = join(desk.folder, 'red chair.png')
      await writeFile(photo, await picture({ width: 1200, height: 800 }))
      await tab.setViewportSize({ width: 1000, height: 800 })
      const src = await timed('drop a picture, and see it', async () => {
        await tab.goto(url)
        const isDefined = `Boolean(document.querySelector('sluice-uploader')?.shadowRoot)`
        await eventually(async () => expect(await tab.evaluate(isDefined)).to.equal(true), {
          withinMs: LONG_MS,
        })
        await dropFiles(tab, 'sluice-uploader', [photo])
        let src = ''
        await eventually(
          async () => {
            const shown = (await tab.evaluate(SHOWN)) as { src: string; uploader: string }
            src = shown.src
            expect(src, shown.uploader).to.not.equal('')
          },
          { withinMs: LONG_MS },
        )
        return src
      })
      times.push(`${((performance.now() - since) / 1000).toFixed(1).padStart(6)} s  in all`)
      console.log(`\n${page}\n${times.join('\n')}`)
      // Not the build: the template of Next.js loads fonts from the internet then.
      await desk.run('npx tsc --noEmit', { cwd })
      const { width } = await sharp(await (await fetch(src)).arrayBuffer()).metadata()
      expect(String(width)).to.equal(new URL(src).searchParams.get('w'))
    })
})
