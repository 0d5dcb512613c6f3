import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { say } from '../../ready/run.js'
import { planesOf, ssim } from '../encoders/ssim.js'
import { restingCpu } from '../measure.js'
import { startSluice } from '../sluice.js'
import { machine } from '../table.js'
import { originals } from './pictures.js'

const AVIF = 'image/avif,image/webp,*/*'
const WEBP = 'image/webp,*/*'
const MOST_WIDTH = 800

const sameFormat = ({ format, animated }) => (animated ? format : format === 'heif' ? 'avif' : format)
const own = (how) => (image, source) => image[sameFormat(source)](how[sameFormat(source)] ?? {})
const AS = {
  avif: (how) => (image, source) => (source.animated ? image.webp({}) : image.avif(how)),
  webp: (how) => (image) => image.webp(how),
}

/** What is compared: a request to Sluice, or an encoder with the settings that another program documents. */
const CONTENDERS = {
  'Sluice, `f=auto`, AVIF accepted': { query: 'f=auto', accept: AVIF },
  'the same with `effort=max`': { query: 'f=auto&effort=max', accept: AVIF },
  // Quality 50 is sharp's default, too.
  'ipx and next/image, AVIF': { encode: AS.avif({ quality: 50 }) },
  'imgproxy, AVIF': { encode: AS.avif({ quality: 63 }) },
  'Sluice, `f=auto`, WebP accepted': { query: 'f=auto', accept: WEBP },
  'WebP with `effort=max`': { query: 'f=auto&effort=max', accept: WEBP },
  'sharp, WebP (ipx)': { encode: AS.webp({}) },
  'next/image, WebP': { encode: AS.webp({ quality: 75 }) },
  'imgproxy, WebP': { encode: AS.webp({ quality: 79 }) },
  'Sluice, format of the original': { query: '', accept: '*/*' },
  'the original format with `effort=max`': { query: 'effort=max', accept: '*/*' },
  'sharp, format of the original': { encode: own({}) },
}

/**
 * Compares the bytes and the look of derivatives: of Sluice, and of the encoders of others. Then counts the derivatives
 * of Sluice that are larger than their original.
 *
 * @param {{temporary: string}} options `temporary` is an empty folder
 * @returns {Promise<string>} tables in Markdown, below a line about the machine
 */
export async function benchBytes({ temporary }) {
  sharp.concurrency(1)
  const pictures = await Promise.all((await originals()).map(described))
  const folder = join(temporary, 'files')
  mkdirSync(folder)
  const files = pictures.map(({ name, bytes }, i) => {
    const path = join(folder, `${i}-${name}`)
    writeFileSync(path, bytes)
    return path
  })
  const { server, records } = await startSluice({ folder: temporary, uploads: files })
  for (const [i, picture] of pictures.entries()) picture.src = new URL(records[i].src).pathname
  try {
    const rows = []
    for (const [title, contender] of Object.entries(CONTENDERS)) {
      const before = contender.encode ? process.cpuUsage().user / 1e6 : await restingCpu(server)
      const made = await Promise.all(pictures.map((picture) => half(server, picture, contender)))
      const after = contender.encode ? process.cpuUsage().user / 1e6 : await restingCpu(server)
      rows.push(await row(title, pictures, { made, cpuSeconds: after - before }))
      say(rows.at(-1))
    }
    const kinds = kindsOf(pictures)
    const head = ['Half the width', ...kinds.map((kind) => `${kind}: KB, SSIM, worst`), 'CPU']
    const larger = await largerThanOriginal(server, pictures)
    return [
      machine({ runs: 1 }),
      `${pictures.length} originals.`,
      table([head, head.map(() => '---'), ...rows]),
      table([
        ['Larger than the original', 'Same size', '80 %', 'Half'],
        ['---', '---', '---', '---'],
        ...larger,
      ]),
    ].join('\n\n')
  } finally {
    await server.stop()
  }
}

async function described({ name, kind, bytes }) {
  const { width, pageHeight, height, format, pages = 1 } = await sharp(bytes, { animated: true }).metadata()
  return { name, kind, bytes, width, height: pageHeight ?? height, format, animated: pages > 1 }
}

/** The derivative of half the width: its bytes. */
async function half(server, picture, { query, accept, encode }) {
  const width = Math.min(MOST_WIDTH, Math.round(picture.width / 2))
  if (!encode) return request(server, picture, { query: `w=${width}&${query}`, accept })
  const image = sharp(picture.bytes, { animated: picture.animated }).resize(width)
  return encode(image, picture).toBuffer()
}

async function request({ url }, { src, name }, { query, accept }) {
  const response = await fetch(`${url}${src}?${query}`, { headers: { Accept: accept } })
  if (response.status !== 200)
    throw new Error(`${name} ${query}: ${response.status} ${await response.text()}`)
  return Buffer.from(await response.arrayBuffer())
}

async function row(title, pictures, { made, cpuSeconds }) {
  const looks = await Promise.all(pictures.map((picture, i) => lookOf(picture, made[i])))
  const cells = kindsOf(pictures).map((kind) => {
    const of = pictures.flatMap((picture, i) => (picture.kind === kind ? [i] : []))
    const kb = of.reduce((sum, i) => sum + made[i].length, 0) / 1000
    const ssims = of.map((i) => looks[i])
    const mean = ssims.reduce((sum, one) => sum + one, 0) / ssims.length
    return `${kb.toFixed(1)}, ${mean.toFixed(4)}, ${Math.min(...ssims).toFixed(4)}`
  })
  return [title, ...cells, `${cpuSeconds.toFixed(1)} s`]
}

/** The similarity to the picture in this size without loss, of an animation in its first frame. */
async function lookOf(picture, bytes) {
  const first = await sharp(bytes).png().toBuffer()
  const { width, height } = await sharp(first).metadata()
  const reference = await sharp(picture.bytes).resize(width, height, { fit: 'fill' }).png().toBuffer()
  return ssim(await planesOf(reference), await planesOf(first), { width, height })
}

async function largerThanOriginal(server, pictures) {
  const rows = []
  for (const [title, { query, accept }] of Object.entries(CONTENDERS).filter(([, { encode }]) => !encode)) {
    const cells = []
    for (const scale of [1, 0.8, 0.5]) {
      const larger = []
      for (const picture of pictures) {
        const made = await request(server, picture, {
          query: `w=${Math.round(picture.width * scale)}&${query}`,
          accept,
        })
        if (made.length > picture.bytes.length)
          larger.push(`${picture.name} ${(made.length / picture.bytes.length).toFixed(2)}`)
      }
      cells.push(larger.length === 0 ? '0' : `${larger.length}: ${larger.join(', ')}`)
    }
    rows.push([title, ...cells])
  }
  return rows
}

function kindsOf(pictures) {
  return [...new Set(pictures.map(({ kind }) => kind))]
}

function table(rows) {
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
