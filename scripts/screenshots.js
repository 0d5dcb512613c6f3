import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt } from './ready/dist.js'
import { alone, projectLock } from './ready/lock.js'
import { command, root, say } from './ready/run.js'

const HELP = `node scripts/screenshots.js [<options>]

Starts the built service on a temporary folder, fills it with generated files, and takes pictures of the console in the Chromium
of the system. Needs ffmpeg. Without options, it writes docs/images/console-files.webp and console-playground.webp.

  --all <folder>      all pages instead, as <name>-<width>-<theme>.png
  --only <names>      only these pages, for example files,usage
  --widths <numbers>  widths of the window in px. Default: 390,1024,1440
  --themes <names>    light, dark or both. Default: light,dark
  --serve             takes no pictures: prints the URL and the session cookie, and runs until Ctrl-C`

/** The pictures of the documentation. */
const DOCUMENTED = ['files', 'playground']
const SECRET = 'sec_of-the-screenshots-only'

await command(async () => {
  const { values } = parseArgs({
    options: {
      all: { type: 'string' },
      only: { type: 'string' },
      widths: { type: 'string', default: '390,1024,1440' },
      themes: { type: 'string', default: 'light,dark' },
      serve: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return console.log(HELP)
  await alone(projectLock, ensureBuilt)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-screenshots-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const { chromium } = await import('../test/node_modules/playwright-core/index.mjs')
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    // Chromium's sandbox refuses root, and a container's /dev/shm is 64 MB.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  const service = await startConsole({ folder, pdf: await priceList(browser) })
  try {
    if (values.serve) await serve(service)
    else if (values.all) await takeAll({ ...values, browser, service })
    else await takeDocumented({ browser, service })
  } finally {
    await browser.close()
    await service.server.stop()
  }
})

/** The service with content, and a session of its owner. */
async function startConsole({ folder, pdf }) {
  const { startServer } = await import('./bench/server.js')
  const { fillInstallation, signInAsOwner } = await import('./screenshots/console.js')
  const { requestDerivatives, uploadFiles, writeUsage } = await import('./screenshots/content.js')
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  await writeUsage(dataDir, ['first'])
  const env = {
    PATH: process.env.PATH ?? '',
    DATA_DIR: dataDir,
    CLIENT_TOKEN: 'pub_of-the-screenshots',
    SECRET_CLIENT_TOKEN: SECRET,
    SHUTDOWN_DELAY_SECONDS: '0',
    // The pages are opened many times a minute.
    DERIVATIVE_RATE_LIMIT: '0',
    DERIVATIVE_RATE_LIMIT_PER_IP: '0',
    CPU_RATE_LIMIT: '0',
    CPU_RATE_LIMIT_PER_IP: '0',
  }
  const server = await startServer({
    program: 'sh',
    script: ['scripts/node.sh', 'dist/src/main.js'],
    folder,
    env,
  })
  say(`Filling ${server.url} ...`)
  const session = await signInAsOwner({ url: server.url, env })
  const ids = await fillInstallation(session)
  const { createClient } = await import(join(root, 'dist/client/index.js'))
  const files = await uploadFiles(createClient({ baseUrl: server.url, secret: SECRET }), { pdf })
  await requestDerivatives(files)
  const { tourOf } = await import('./screenshots/tour.js')
  return { server, cookie: session.cookie, tour: tourOf({ files, ...ids }) }
}

async function takeAll({ all, only, widths, themes, browser, service }) {
  mkdirSync(all, { recursive: true })
  const stops = service.tour.filter(({ name }) => !only || only.split(',').includes(name))
  for (const theme of themes.split(','))
    for (const width of widths.split(',').map(Number))
      for (const stop of stops) {
        const height = width < 600 ? 844 : 900
        const path = join(all, `${stop.name}-${width}-${theme}.png`)
        await take({ browser, service, stop, theme, width, height }, { path }).catch((error) =>
          say(`${path}: ${error.message.split('\n')[0]}`),
        )
      }
}

async function takeDocumented({ browser, service }) {
  const { default: sharp } = await import('sharp')
  for (const name of DOCUMENTED) {
    const stop = service.tour.find((one) => one.name === name)
    const png = await take({ browser, service, stop, theme: 'light', width: 1440, height: 900 }, {})
    const path = join(root, 'docs/images', `console-${name}.webp`)
    const { size } = await sharp(png).webp({ quality: 80, effort: 6, smartSubsample: true }).toFile(path)
    say(`${path}: ${size} bytes`)
  }
}

/** Opens one page in a session of its own, and takes its picture. */
async function take({ browser, service, stop, theme, width, height }, options) {
  const { visit } = await import('./screenshots/tour.js')
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  })
  try {
    const { url } = service.server
    const [name, value] = service.cookie.split('=')
    if (!stop.isSignedOut) await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    await visit(page, { url, stop })
    return await page.screenshot(options)
  } finally {
    await context.close()
  }
}

/** A PDF of one page, printed by Chromium. */
async function priceList(browser) {
  const page = await browser.newPage()
  const rows = ['Print, 30 × 20 cm', 'Print, 60 × 40 cm', 'Framed, 60 × 40 cm', 'Canvas, 90 × 60 cm']
  await page.setContent(`<body style="font:16px sans-serif;margin:48px"><h1>Price list</h1><table cellpadding="12">
    ${rows.map((row, i) => `<tr><td>${row}<td>${(i + 1) * 35} €`).join('')}</table>`)
  const pdf = await page.pdf({ format: 'A4' })
  await page.close()
  return pdf
}

async function serve({ server, cookie, tour }) {
  console.log(
    JSON.stringify({ url: server.url, cookie, pages: tour.map(({ name, path }) => ({ name, path })) }),
  )
  await new Promise(() => {})
}
