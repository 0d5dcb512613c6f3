import { once } from 'node:events'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { picture } from '../../support/media/images.ts'
import { startPage } from '../../support/peers/browser-pages.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { freePort } from '../../support/servers/free-port.ts'
import { type Running, run } from '../../support/servers/process.ts'
import { PROJECT } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** The block of code of a how-to guide in which these words are. */
async function blockOf(page: string, words: string): Promise<string> {
  const text = await readFile(join(PROJECT, 'docs', 'how-to', page), 'utf8')
  const blocks = [...text.matchAll(/```\w+\n([\s\S]*?)```/g)].map(([, code = '']) => code)
  const found = blocks.find((code) => code.includes(words))
  if (found === undefined) throw new Error(`${page} has no block of code with ${words}`)
  return found
}

onOneBackend('the code of the how-to guides', (start) => {
  /** A project of a reader, with the packages that the guides use. */
  let desk: string
  const running: Running[] = []
  before(async () => {
    desk = await temporaryFolder()
    await symlink(join(PROJECT, 'node_modules'), join(desk, 'node_modules'))
    await writeFile(join(desk, 'package.json'), '{"type": "module"}')
  })
  after(async () => {
    for (const { child, ended } of running) {
      child.kill()
      await ended
    }
    await rm(desk, { recursive: true })
  })

  /** Runs a server of a guide on a free port, and waits until it responds. */
  async function serve(
    file: string,
    code: string,
    env: Record<string, string>,
  ): Promise<{ url: string; server: Running }> {
    const port = await freePort()
    await writeFile(join(desk, file), code.replace(/listen\(\d+\)/, `listen(${port}, '127.0.0.1')`))
    const server = run({
      program: process.execPath,
      script: [
        '-e',
        `process.chdir(${JSON.stringify(desk)}); import(${JSON.stringify(pathToFileURL(join(desk, file)))})`,
      ],
      env,
    })
    running.push(server)
    const url = `http://127.0.0.1:${port}`
    await eventually(
      () => new Promise<void>((done, fail) => get(url, (res) => done(void res.resume())).on('error', fail)),
    )
    return { url, server }
  }

  it('upload from a page without a secret, and show a derivative (browser-uploads.md)', async () => {
    const service = await start()
    await mkdir(join(desk, 'public'))
    const page = await blockOf('browser-uploads.md', '<input type="file"')
    expect(page).not.to.match(/secret/i)
    await writeFile(join(desk, 'public', 'index.html'), page)
    const { url } = await serve(
      'upload-server.js',
      await blockOf('browser-uploads.md', "app.post('/upload-link'"),
      {
        SLUICE: service.url,
        SLUICE_SECRET: service.tokens.secretClientToken,
      },
    )
    const photo = (await picture({ width: 90, height: 60 })).toString('base64')
    let tab: Page | undefined
    try {
      tab = await startPage()
      await tab.goto(`${url}/`)
      const shown = await tab.evaluate(`(async () => {
        const until = async (ready) => {
          for (let i = 0; i < 200; i += 1) {
            if (ready()) return
            await new Promise((done) => setTimeout(done, 50))
          }
          throw new Error('not ready: ' + document.documentElement.outerHTML)
        }
        const bytes = Uint8Array.from(atob('${photo}'), (char) => char.charCodeAt(0))
        const files = new DataTransfer()
        files.items.add(new File([bytes], 'café.png', { type: 'image/png' }))
        const input = document.querySelector('input')
        input.files = files.files
        input.dispatchEvent(new Event('change'))
        const img = document.querySelector('img')
        await until(() => img.complete && img.naturalWidth > 0)
        return { src: img.src, width: img.naturalWidth }
      })()`)
      expect(shown)
        .to.have.property('src')
        .that.matches(/\/avatars\/.*\?w=300&h=300&f=webp$/)
      expect(shown).to.have.property('width').that.is.above(0)
    } finally {
      await tab?.context().close()
    }
  })

  itLong('receive webhooks with Express, each once (webhooks.md)', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    await writeFile(join(desk, 'verify.js'), await blockOf('webhooks.md', 'export function verify'))
    const code = await blockOf('webhooks.md', 'express.raw({')
    const { url, server } = await serve('receiver.js', code, { WEBHOOK_SECRET: secret })
    const service = await start({
      env: {
        WEBHOOK_SECRET: secret,
        WEBHOOK_URL: `${url}/hooks`,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.0/8',
      },
    })
    const { s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    await eventually(() => expect(server.output()).to.include(`original.stored ${s3PathOriginal}`))
    const forged = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }
    expect((await fetch(`${url}/hooks`, forged)).status).to.equal(401)
  })

  it('show placeholders (responsive-images.md)', async () => {
    const service = await start()
    const form = new FormData()
    form.append('file', new Blob([await picture({ width: 90, height: 60 })]), 'a.png')
    form.append('info', '1')
    const Authorization = service.tokens.secretClientToken
    const response = await fetch(`${service.url}/v1/upload`, {
      method: 'POST',
      headers: { Authorization },
      body: form,
    })
    const [record] = (await response.json()) as [{ src: string; options: { info: object } }]
    const placeholder = await blockOf('responsive-images.md', 'thumbHashToDataURL(bytes)')
    await writeFile(
      join(desk, 'placeholder.js'),
      `const record = ${JSON.stringify(record)}\n${placeholder}\nexport { blurDataURL }\n`,
    )
    const { blurDataURL } = await import(pathToFileURL(join(desk, 'placeholder.js')).href)
    expect(blurDataURL).to.match(/^data:image\/png;base64,/)
  })

  it('reduce Accept headers to three values at CloudFront (cdn.md)', async () => {
    await writeFile(
      join(desk, 'cloudfront.js'),
      `${await blockOf('cdn.md', 'function handler(event)')}\nexport { handler }\n`,
    )
    const { handler } = await import(pathToFileURL(join(desk, 'cloudfront.js')).href)
    const reduced = (headers: object) => handler({ request: { headers } }).headers.accept.value
    expect(reduced({ accept: { value: 'text/html,image/avif,image/webp,*/*' } })).to.equal(
      'image/avif,image/webp',
    )
    expect(reduced({ accept: { value: 'image/webp,*/*' } })).to.equal('image/webp')
    expect(reduced({})).to.equal('*/*')
  })

  it('reduce Accept headers at Cloudflare without a change of the format (cdn.md)', async () => {
    const rule = JSON.parse(await blockOf('cdn.md', '"set_cache_settings"'))
    const { media_types: types } = rule.action_parameters.vary.headers.accept as { media_types: string[] }
    const service = await start()
    const { src } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const typeFor = async (accept: string | undefined) => {
      const headers = accept === undefined ? {} : { Accept: accept }
      const [response] = (await once(get(`${src}?w=20&f=auto`, { headers }), 'response')) as [IncomingMessage]
      response.resume()
      return response.headers['content-type']
    }
    for (const accept of [
      'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8',
      'image/webp,image/png;q=0.8,*/*;q=0.5',
      'image/png,image/*;q=0.8',
      '*/*',
    ]) {
      const named = accept.split(',').map((type) => type.split(';')[0] ?? '')
      // Cloudflare removes a header of which nothing remains.
      const reduced = named.filter((type) => types.includes(type)).join(',') || undefined
      expect(await typeFor(reduced), accept).to.equal(await typeFor(accept))
    }
  })

  itLong('test a plugin without a server (test-a-plugin.md)', async () => {
    const tutorial = await readFile(join(PROJECT, 'docs', 'tutorial', 'first-plugin.md'), 'utf8')
    const plugin =
      [...tutorial.matchAll(/```js\n(\/\/ plugins\/image-scanlines\.js\n[\s\S]*?)```/g)].at(-1)?.[1] ?? ''
    await mkdir(join(desk, 'my-plugins'))
    await writeFile(join(desk, 'my-plugins', 'image-scanlines.js'), plugin)
    const test = await blockOf('test-a-plugin.md', "test('darkens every other two rows'")
    await writeFile(join(desk, 'my-plugins', 'image-scanlines.test.mjs'), test)
    const { ended, output } = run({
      program: process.execPath,
      script: ['--test', `${desk}/my-plugins/image-scanlines.test.mjs`],
    })
    expect(await ended, output()).to.equal(0)
    expect(output()).to.match(/^# pass 2$|^ℹ pass 2$/m)
  })
})
