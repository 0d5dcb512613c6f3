import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { say } from '../../ready/run.js'
import { restingCpu } from '../measure.js'
import { startSluice } from '../sluice.js'
import { machine, median, short } from '../table.js'
import { startPeer } from '../works/peer.js'
import { VIDEO_WORKS } from './works.js'

/** The names that --only accepts. */
export const VIDEO_WORK_NAMES = VIDEO_WORKS.map(({ name }) => name)

const SECONDS = 60
const SOURCES = { full: { size: '1920x1080', rate: 30 }, quick: { size: '480x270', rate: 2 } }

const execute = promisify(execFile)

/**
 * Transcodes a generated video and extracts frames of it, each for the first time, one at a time: Sluice, and ffmpeg
 * called as by hand behind node:http, in turn.
 *
 * @param {{only?: string[], runs: number, size: 'full' | 'quick', temporary: string}} options `temporary` is an empty
 *   folder
 * @returns {Promise<string>} a table in Markdown, below a line about the machine
 */
export async function benchVideos({ only = VIDEO_WORK_NAMES, runs, size, temporary }) {
  const file = await videoIn(temporary, SOURCES[size])
  const folder = (name) => {
    const path = join(temporary, name)
    mkdirSync(path)
    return path
  }
  const sluice = await startSluice({ folder: folder('sluice'), uploads: [file] })
  const peer = await startPeer({ script: 'peers/ffmpeg.js', args: [file], folder: folder('ffmpeg') })
  const [{ src }] = sluice.records
  const contenders = [
    {
      server: sluice.server,
      // Uses the real port, which the record's URL may not have.
      urlOf: ({ query }, i) => `${sluice.server.url}${new URL(src).pathname}?${query(i)}&wait=30`,
    },
    { server: peer, urlOf: ({ name }, i) => `${peer.url}/${name}/${i}` },
  ]
  try {
    const rows = []
    for (const work of VIDEO_WORKS.filter(({ name }) => only.includes(name))) {
      let next = 0
      await expectSameWork(contenders, work, { i: next++, temporary })
      const count = work.counts[size]
      const rounds = []
      for (let round = 0; round < runs; round += 1) {
        const figures = []
        // Each round begins with another contender.
        for (const at of round % 2 === 0 ? [0, 1] : [1, 0])
          figures[at] = await make(contenders[at], work, { from: next, count })
        next += count
        rounds.push(figures)
      }
      rows.push(`| ${work.title} | ${cell(rounds, 'p50Ms')} | ${cell(rounds, 'cpuMs')} |`)
      say(rows.at(-1))
    }
    const head = ['| Work | p50 | CPU a request |', '| --- | --- | --- |']
    return `${machine({ runs })}\n\n${[...head, ...rows].join('\n')}`
  } finally {
    await Promise.all([sluice.server.stop(), peer.stop()])
  }
}

/** Requests `count` results from a contender, one after the other. */
async function make({ server, urlOf }, work, { from, count }) {
  const before = await restingCpu(server)
  const latencies = []
  for (let i = from; i < from + count; i += 1) {
    const startedAt = performance.now()
    await bytesOf(urlOf(work, i))
    latencies.push(performance.now() - startedAt)
  }
  const cpuSeconds = (await restingCpu(server)) - before
  return { p50Ms: median(latencies), cpuMs: (cpuSeconds / count) * 1000 }
}

/** Repeats the request until the result is ready. */
async function bytesOf(url) {
  for (;;) {
    const response = await fetch(url)
    const bytes = Buffer.from(await response.arrayBuffer())
    if (response.status === 200) return bytes
    if (response.status !== 423)
      throw new Error(`expected status 200 for ${url}, received ${response.status}: ${bytes}`)
  }
}

/** Both figures, and the ratio of Sluice's to ffmpeg's. */
function cell(rounds, figure) {
  // The median of the rounds' ratios, not the ratio of medians: noise in a round affects both its figures.
  const ratio = median(rounds.map(([ours, theirs]) => ours[figure] / theirs[figure]))
  const [ours, theirs] = [0, 1].map((at) => short(median(rounds.map((round) => round[at][figure]))))
  return `**${ratio.toFixed(2)}** (${ours} : ${theirs} ms)`
}

/** @throws {Error} when the two produce different results for one request */
async function expectSameWork(contenders, work, { i, temporary }) {
  const outcomes = []
  for (const { urlOf } of contenders) {
    const path = join(temporary, `outcome.${work.extension}`)
    await writeFile(path, await bytesOf(urlOf(work, i)))
    const entries = ['-show_entries', 'stream=codec_name,width,height,nb_frames', '-of', 'compact']
    outcomes.push((await execute('ffprobe', ['-v', 'error', ...entries, path])).stdout)
  }
  const [ours, theirs] = outcomes
  if (ours !== theirs)
    throw new Error(`${work.name}: expected of ffmpeg what Sluice makes,\n${ours}received\n${theirs}`)
}

// Generating noise takes longest, so only this much is generated, and repeated.
const PART_SECONDS = 10

/** Moving shapes, with noise like a camera's, and a tone. */
async function videoIn(folder, { size, rate }) {
  const [part, path] = ['part.mp4', 'video.mp4'].map((name) => join(folder, name))
  say(`Making a video of ${SECONDS} s, ${size} ...`)
  const quiet = ['-nostdin', '-loglevel', 'error']
  const picture = `testsrc2=size=${size}:rate=${rate}:duration=${PART_SECONDS},noise=alls=8:allf=t`
  await execute('ffmpeg', [
    ...[
      ...quiet,
      '-f',
      'lavfi',
      '-i',
      picture,
      '-f',
      'lavfi',
      '-i',
      `sine=frequency=440:duration=${PART_SECONDS}`,
    ],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', part],
  ])
  const times = SECONDS / PART_SECONDS - 1
  await execute('ffmpeg', [...quiet, '-stream_loop', String(times), '-i', part, '-c', 'copy', path])
  return path
}
