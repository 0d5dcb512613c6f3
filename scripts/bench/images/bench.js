import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { say } from '../../ready/run.js'
import { bytesOf, load } from '../load.js'
import { restingCpu } from '../measure.js'
import { photosIn } from '../photo.js'
import { derivativeOf, startSluice } from '../sluice.js'
import { machine, median, short } from '../table.js'
import { get, startPeer } from '../works/peer.js'
import { OPERATIONS } from './operations.js'

/** The names that --only accepts. */
export const OPERATION_NAMES = OPERATIONS.map(({ name }) => name)

const CONNECTIONS = 8
// Until the server's JavaScript is compiled, a request takes 20 % longer.
const COUNTS = { full: { warmUp: 150, requests: 48 }, quick: { warmUp: 2, requests: 2 } }
// The first width of a run. No width is requested twice, and all are within the photo.
const FIRST_WIDTH = 500

/**
 * Transforms a photo in many ways, each for the first time: Sluice, and sharp alone behind node:http, in turn.
 *
 * @param {{only?: string[], runs: number, size: 'full' | 'quick', photo?: string, temporary: string}} options `temporary`
 *   is an empty folder
 * @returns {Promise<string>} a table in Markdown, below a line about the machine
 */
export async function benchImages({ only = OPERATION_NAMES, runs, size, photo, temporary }) {
  const [file] = await photosIn(temporary, photo)
  const logo = await logoIn(temporary)
  const folder = (name) => {
    const path = join(temporary, name)
    mkdirSync(path)
    return path
  }
  const sluice = await startSluice({ folder: folder('sluice'), uploads: [file, logo] })
  const peer = await startPeer({ script: 'peers/images.js', args: [file, logo], folder: folder('sharp') })
  const [source, mark] = sluice.records
  const contenders = [
    {
      server: sluice.server,
      request: ({ query }, w) => derivativeOf(source, query(w, mark.sourceName)),
    },
    { server: peer, request: ({ name }, w) => get(`/${name}/${w}`) },
  ]
  try {
    const { warmUp, requests } = COUNTS[size]
    let next = FIRST_WIDTH
    /** Requests `count` transformations from a contender, each in a new width. */
    const transform = async ({ server, request }, operation, count) => {
      const first = next
      const before = await restingCpu(server)
      const { seconds } = await load({
        url: server.url,
        connections: CONNECTIONS,
        count,
        request: (i) => request(operation, first + i),
      })
      const cpuSeconds = (await restingCpu(server)) - before
      return { rate: count / seconds, cpuMs: (cpuSeconds / count) * 1000 }
    }
    for (const contender of contenders) await transform(contender, OPERATIONS[0], warmUp)
    next += warmUp
    const rows = []
    const ratios = []
    for (const operation of OPERATIONS.filter(({ name }) => only.includes(name))) {
      await expectSameWork(contenders, operation, next++)
      const count = Math.ceil(requests * (operation.share ?? 1))
      const rounds = []
      for (let i = 0; i < runs; i += 1) {
        // Each round begins with another contender.
        const order = i % 2 === 0 ? [0, 1] : [1, 0]
        const round = []
        for (const at of order) round[at] = await transform(contenders[at], operation, count)
        next += count
        rounds.push(round)
      }
      rows.push(row(operation.name, rounds))
      ratios.push({ rate: ratioOf(rounds, 'rate'), cpuMs: ratioOf(rounds, 'cpuMs') })
      say(rows.at(-1))
      // Start again with the first widths, which are within the photo.
      if (next > 2000) next = FIRST_WIDTH + warmUp
    }
    const head = ['| Operation | Rate | CPU a request |', '| --- | --- | --- |']
    const mean = (figure) => geometricMean(ratios.map((ratio) => ratio[figure])).toFixed(2)
    const all = `| all of them, geometric mean | **${mean('rate')}** | **${mean('cpuMs')}** |`
    return `${machine({ runs })}\n\n${[...head, ...rows, all].join('\n')}`
  } finally {
    await Promise.all([sluice.server.stop(), peer.stop()])
  }
}

function row(name, rounds) {
  return `| ${name} | ${cell(rounds, 'rate', '/s')} | ${cell(rounds, 'cpuMs', 'ms')} |`
}

/** Both figures, and the ratio of Sluice's to sharp's. */
function cell(rounds, figure, unit) {
  const [ours, theirs] = [0, 1].map((at) => short(median(rounds.map((round) => round[at][figure]))))
  return `**${ratioOf(rounds, figure).toFixed(2)}** (${ours} : ${theirs} ${unit})`
}

/** The median of the rounds' ratios, not the ratio of medians: noise in a round affects both its figures. */
function ratioOf(rounds, figure) {
  return median(rounds.map(([ours, theirs]) => ours[figure] / theirs[figure]))
}

function geometricMean(ratios) {
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)
}

/** A logo with some transparency. */
async function logoIn(folder) {
  const path = join(folder, 'logo.png')
  const badge =
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="160"><rect rx="30" width="400" height="160" fill="#06c" opacity="0.7"/></svg>'
  await sharp(Buffer.from(badge)).png().toFile(path)
  return path
}

// Effects may be applied in another order, and the center of a crop may be rounded differently.
const ABOUT = 0.15

/** @throws {Error} when the two produce different results for one request */
async function expectSameWork(contenders, operation, w) {
  const [ours, theirs] = await Promise.all(
    contenders.map(async ({ server, request }) => {
      const bytes = await bytesOf(server.url, request(operation, w))
      const { format, width, height, hasAlpha } = await sharp(bytes).metadata()
      return { what: JSON.stringify({ format, width, height, hasAlpha }), bytes: bytes.length }
    }),
  )
  if (ours.what === theirs.what && Math.abs(theirs.bytes / ours.bytes - 1) < ABOUT) return
  const told = ({ what, bytes }) => `${what} of ${bytes} bytes`
  throw new Error(
    `${operation.name}: expected ${told(ours)} of sharp, as of Sluice, received ${told(theirs)}`,
  )
}
