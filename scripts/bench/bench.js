import { mkdirSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { say } from '../ready/run.js'
import { measure } from './measure.js'
import { photosIn } from './photo.js'
import { machine, missedTargets, ratiosOf, table } from './table.js'
import { coldDirect, coldJpeg, coldWebp } from './works/cold.js'
import { FIRST_WORKS } from './works/first.js'
import { laterJpeg, laterPng, together } from './works/large-sources.js'
import { crowded, hot, largeRange, original, range, refused, stored } from './works/stored.js'
import { upload } from './works/upload.js'
import { zip } from './works/zip.js'

const WORKS = [
  ...FIRST_WORKS,
  hot,
  crowded,
  stored,
  refused,
  original,
  range,
  largeRange,
  coldJpeg,
  coldWebp,
  coldDirect,
  laterJpeg,
  laterPng,
  together,
  upload,
  zip,
]

/** The names that --only accepts. */
export const WORK_NAMES = WORKS.map(({ name }) => name)

/**
 * Measures and compares all works.
 *
 * @param {{only?: string[], runs: number, size: 'full' | 'short' | 'quick', photo?: string, profile?: string, json?: string,
 *   temporary: string}} options `temporary` is an empty folder; `json` the file for the figures
 * @returns {Promise<{text: string, missed: string[]}>} a table in Markdown, below a line about the machine, and the targets that
 *   were missed by more than a tenth, one sentence each
 */
export async function bench({ only = WORK_NAMES, runs, size, photo, profile, json, temporary }) {
  if (profile) mkdirSync(profile, { recursive: true })
  const nodeOptions = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []
  const photos = await photosIn(temporary, photo)
  const results = []
  for (const work of WORKS.filter(({ name }) => only.includes(name))) {
    results.push({ work, runs: await compare(work, { runs, size, photos, temporary, nodeOptions }) })
  }
  const rows = results.flatMap(ratiosOf)
  if (json) writeFileSync(json, `${JSON.stringify({ machine: machine({ runs }), rows }, null, 2)}\n`)
  return {
    text: `${machine({ runs })}\n\n${table(rows)}`,
    missed: size === 'quick' ? [] : missedTargets(rows),
  }
}

/** Runs a work's contenders in turn, so that other load of the machine affects all of them. */
async function compare(work, { runs, ...options }) {
  const contenders = work.contenders.filter(({ isInstalled }) => isInstalled?.() ?? true)
  const rounds = []
  for (let i = 1; i <= runs; i += 1) {
    const round = new Map()
    const outcomes = new Map()
    // Each round begins with another contender.
    const first = i % contenders.length
    for (const contender of [...contenders.slice(first), ...contenders.slice(0, first)]) {
      const { figures, outcome, ownShare } = await measured(work, contender, options)
      say(`${work.name} ${i}/${runs}  ${contender.name}: ${told(figures, ownShare)}`)
      round.set(contender.name, figures)
      outcomes.set(contender.name, outcome)
    }
    for (const { name } of contenders) expectSameWork(work, name, outcomes)
    rounds.push(round)
  }
  return rounds
}

/** Repeats a run once if other processes used the machine, except in the quick size, whose figures are not read. */
async function measured(work, contender, options) {
  const first = await measure(work, contender, options)
  if (!first.figures.isDisturbed || options.size === 'quick') return first
  say('Other processes used the machine; the run is repeated.')
  return measure(work, contender, options)
}

function told({ rate, cpuMs, isDisturbed }, ownShare) {
  const share = `${Math.round(100 * ownShare)} % of a core to ask`
  return `${rate.toFixed(1)}/s, ${cpuMs.toFixed(3)} ms of CPU, ${share}${isDisturbed ? ', disturbed' : ''}`
}

// Different versions of an encoder produce slightly different sizes, and Sluice compresses WebP with less effort: up to 6 % more
// bytes.
const ABOUT = 0.1

/** @throws {Error} when this contender's outcome differs from Sluice's; for `about`, by more than {@link ABOUT} */
function expectSameWork(work, contender, outcomes) {
  const [expected, received] = [work.contenders[0].name, contender].map((name) => outcomes.get(name))
  const [{ about: a = 1, ...exact }, { about: b = 1, ...same }] = [expected, received]
  if (isDeepStrictEqual(exact, same) && Math.abs(b / a - 1) < ABOUT) return
  const [ours, theirs] = [expected, received].map((outcome) => JSON.stringify(outcome))
  throw new Error(`${work.name}: expected ${ours} of ${contender}, as of Sluice, received ${theirs}`)
}
