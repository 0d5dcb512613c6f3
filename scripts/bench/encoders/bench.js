import sharp from 'sharp'
import { say } from '../../ready/run.js'
import { machine } from '../table.js'
import { pictures } from './pictures.js'
import { ENCODERS } from './settings.js'
import { planesOf, ssim } from './ssim.js'

/** The names that --only accepts. */
export const ENCODER_NAMES = Object.keys(ENCODERS)

// Of several runs the fastest counts: other work of the machine only makes them slower.
const RUNS = { avif: 1, others: 3 }
const USUAL_QUALITY = 75

/**
 * Compresses each picture with each setting, and compares time, bytes and similarity with the first setting of a format.
 *
 * @param {{only?: string[], runs: number, temporary: string}} options
 * @returns {Promise<string>} a table of each format in Markdown, below a line about the machine
 */
export async function benchEncoders({ only = ENCODER_NAMES, runs, temporary }) {
  sharp.concurrency(1)
  sharp.cache(false)
  const inputs = await pictures(temporary)
  for (const input of inputs) input.planes = await planesOf(input.data, { raw: input.raw })
  const tables = []
  for (const format of only) tables.push(`### ${format}\n\n${await tableOf(format, inputs)}`)
  return [machine({ runs }), ...tables].join('\n\n')
}

async function tableOf(format, inputs) {
  const { qualities = [undefined], settings } = ENCODERS[format]
  const all = []
  for (const [title, options] of settings) {
    const points = []
    for (const quality of qualities)
      for (const input of inputs) points.push(await compressed(input, { format, options, quality }))
    all.push({ title, points })
    say(`${format} ${title}`)
  }
  const rows = all.map((setting) => rowOf(setting, all[0]))
  const head = ['Setting', 'CPU', 'Bytes', 'SSIM', 'Bytes at equal SSIM']
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

async function compressed({ name, data, raw, planes }, { format, options, quality }) {
  let cpuMs = Number.POSITIVE_INFINITY
  let bytes
  for (let i = 0; i < (RUNS[format] ?? RUNS.others); i += 1) {
    const before = process.cpuUsage()
    const encoder = { ...options, ...(quality === undefined ? {} : { quality }) }
    bytes = await sharp(data, { raw })[format](encoder).toBuffer()
    const { user, system } = process.cpuUsage(before)
    cpuMs = Math.min(cpuMs, (user + system) / 1000)
  }
  const similarity = quality === undefined ? 1 : ssim(planes, await planesOf(bytes), raw)
  const megapixels = (raw.width * raw.height) / 1e6
  return { picture: name, quality, cpuMs, bytes: bytes.length, similarity, megapixels }
}

function rowOf({ title, points }, first) {
  const usual = (list) => list.filter(({ quality = USUAL_QUALITY }) => quality === USUAL_QUALITY)
  const [own, base] = [usual(points), usual(first.points)]
  const cpu = (list) => sum(list, 'cpuMs') / sum(list, 'megapixels')
  const bytes = (list) =>
    Math.exp(
      sum(
        list.map((point) => ({ log: Math.log(point.bytes) })),
        'log',
      ) / list.length,
    )
  const equal = bytesAtEqualSimilarity(points, base)
  return [
    title,
    `${cpu(own).toFixed(1)} ms (${(cpu(own) / cpu(base)).toFixed(2)})`,
    (bytes(own) / bytes(base)).toFixed(3),
    (sum(own, 'similarity') / own.length).toFixed(4),
    equal === undefined ? '' : equal.toFixed(3),
  ]
}

/** The bytes with which a setting would reach the similarity of the first one, between its qualities. Relative to it. */
function bytesAtEqualSimilarity(points, base) {
  const logs = base.flatMap(({ picture, similarity, bytes }) => {
    const line = points
      .filter((point) => point.picture === picture)
      .sort((one, other) => one.similarity - other.similarity)
    const at = line.findIndex(
      (point, i) => point.similarity <= similarity && line[i + 1]?.similarity > similarity,
    )
    if (at === -1) return line.some((point) => point.bytes === bytes) ? [0] : []
    const [low, high] = [line[at], line[at + 1]]
    const share = (similarity - low.similarity) / (high.similarity - low.similarity)
    return [Math.log(low.bytes) + share * (Math.log(high.bytes) - Math.log(low.bytes)) - Math.log(bytes)]
  })
  return logs.length > 0 && base[0].similarity < 1
    ? Math.exp(logs.reduce((a, b) => a + b, 0) / logs.length)
    : undefined
}

function sum(list, of) {
  return list.reduce((total, item) => total + item[of], 0)
}
