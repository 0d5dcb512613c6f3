import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { command } from './ready/run.js'
import { zipDirectory } from './zip-directory.js'

const HELP = `npm run demo [-- <options>]

Generates an image, uploads it to a running server, transforms, zips and deletes it, and prints each step.

  --url <url>        URL of the server. Default: the server on PORT, else the one on DATA_DIR, else http://localhost:3000
  --secret <token>   secret token of the client. Default: SECRET_CLIENT_TOKEN, else the one in DATA_DIR/credentials.json
  --out <folder>     stores the images and the archive there. Default: nothing is stored`

const dataDir = process.env.DATA_DIR ?? './data'

await command(async () => {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      secret: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return console.log(HELP)
  if (values.out) mkdirSync(values.out, { recursive: true })
  const url = values.url ?? localServer(process.env.PORT) ?? runningServer() ?? localServer('3000')
  await demo({
    url: url.replace(/\/+$/, ''),
    secret: values.secret ?? process.env.SECRET_CLIENT_TOKEN ?? secretOfDataDir(),
    folder: values.out,
  })
})

/** The five steps of the demo. Each throws when the server does not behave as documented. */
async function demo({ url, secret, folder }) {
  const authorization = { Authorization: secret }
  const save = (name, bytes) => {
    if (folder === undefined) return
    writeFileSync(join(folder, name), bytes)
    console.log(`${' '.repeat(10)} ${join(folder, name)}`)
  }

  const picture = await step('create', makePicture, (png) => `an image of 1200 x 800 px, ${sizeOf(png)}`)
  save('picture.png', picture)

  const record = await step(
    'upload',
    async () => {
      const body = new FormData()
      body.append('file', new Blob([picture], { type: 'image/png' }), 'picture.png')
      const answer = await request(`${url}/v1/upload`, { method: 'POST', headers: authorization, body })
      const [first] = await answer.json()
      return first
    },
    ({ size, src }) => `${size} bytes, available at ${src}`,
  )

  try {
    await transformAndZip(record, { url, authorization, save })
  } finally {
    // Also after a failure: the demo leaves no files behind.
    await step(
      'delete',
      () =>
        request(`${url}/v1/upload/${record.s3PathOriginal}`, { method: 'DELETE', headers: authorization }),
      () => 'the original and its derivatives',
    )
  }

  await step(
    'check',
    () => request(record.src, { status: 404 }),
    () => '404, the file is deleted',
  )
}

async function transformAndZip(record, { url, authorization, save }) {
  const small = await step(
    'transform',
    async () => bytesOf(await request(`${record.src}?w=300&f=webp`)),
    (webp) => `?w=300&f=webp, ${sizeOf(webp)}`,
  )
  const { width, format } = await sharp(small).metadata()
  expect(width === 300 && format === 'webp', `a webp of width 300, received a ${format} of width ${width}`)
  save('small.webp', small)

  const archive = await step(
    'zip',
    async () => {
      const files = [
        { path: record.sourceName },
        { path: record.sourceName, params: { w: 100, f: 'webp' }, name: 'small.webp' },
      ]
      const headers = { ...authorization, 'Content-Type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify({ files }) }
      return bytesOf(await request(`${url}/v1/zip`, init))
    },
    (zip) => `${namesIn(zip).join(', ')}, ${sizeOf(zip)}`,
  )
  expect(namesIn(archive).length === 3, 'an archive of two images and a manifest')
  save('archive.zip', archive)
}

/** Runs one step, and prints its name, its time and its result. */
async function step(name, work, describe) {
  const start = performance.now()
  try {
    const result = await work()
    const time = `${Math.round(performance.now() - start)} ms`
    console.log(`${name.padEnd(10)} ${time.padStart(8)}  ${describe(result)}`)
    return result
  } catch (error) {
    throw new Error(`${name} failed: ${error.message}`, { cause: error })
  }
}

/** A fetch that throws unless the response has the expected status. */
async function request(url, { status = 200, ...init } = {}) {
  const answer = await fetch(url, init).catch((error) => {
    throw new Error(
      `no server at ${new URL(url).origin} (${error.cause?.code ?? error.message}). Start it with npm start`,
    )
  })
  if (answer.status !== status) {
    const what = `${init.method ?? 'GET'} ${url}`
    throw new Error(
      `expected status ${status} for ${what}, received ${answer.status}: ${await answer.text()}`,
    )
  }
  return answer
}

async function bytesOf(answer) {
  return Buffer.from(await answer.arrayBuffer())
}

function sizeOf({ length }) {
  return `${(length / 1000).toFixed(1)} kB`
}

function expect(holds, what) {
  if (!holds) throw new Error(`expected ${what}`)
}

/** A gradient with a circle: a wrong size, rotation or crop is easy to see. */
function makePicture() {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="800">
    <linearGradient id="sky" x2="1" y2="1"><stop stop-color="#0b3d91"/><stop offset="1" stop-color="#ffb347"/></linearGradient>
    <rect width="1200" height="800" fill="url(#sky)"/>
    <circle cx="400" cy="300" r="180" fill="#fff8e1" stroke="#d7263d" stroke-width="24"/>
  </svg>`
  return sharp(Buffer.from(svg)).png().toBuffer()
}

function namesIn(zip) {
  return zipDirectory(zip).map(({ name }) => name)
}

/** Undefined for port 0, which means a free port. */
function localServer(port) {
  return Number(port) > 0 ? `http://localhost:${port}` : undefined
}

/** The URL of the running server, from the file that it writes into the data folder. Undefined when no server runs. */
function runningServer() {
  try {
    const { pid, baseUrl } = JSON.parse(readFileSync(join(dataDir, 'holder.json'), 'utf8'))
    // Signal 0 only checks whether the process exists: kill(2).
    process.kill(pid, 0)
    return baseUrl
  } catch {
    return undefined
  }
}

function secretOfDataDir() {
  const file = join(dataDir, 'credentials.json')
  try {
    return JSON.parse(readFileSync(file, 'utf8')).secretClientToken
  } catch (error) {
    throw new Error(
      `no secret token: ${error.message}. Start the server with npm start, or set --secret or SECRET_CLIENT_TOKEN`,
    )
  }
}
