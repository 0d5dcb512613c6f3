import { mkdirSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { say } from '../ready/run.js'
import { measure } from './measure.js'
import { photosIn } from './photo.js'
import { machine, table } from './table.js'
import { cold } from './works/cold.js'
import { repeated } from './works/repeated.js'
import { upload } from './works/upload.js'
import { zip } from './works/zip.js'

const WORKS = [cold, repeated, upload, zip]

/** What can be asked for by name. */
export const WORK_NAMES = WORKS.map(({ name }) => name)

/**
 * Measures and compares.
 *
 * @param {{only?: string[], runs: number, size: 'full' | 'quick', photo?: string, profile?: string, temporary: string}}
 *   options `temporary` is an empty folder
 * @returns {Promise<string>} a table in Markdown, below a line on the machine
 */
export async function bench({ only = WORK_NAMES, runs, size, photo, profile, temporary }) {
  if (profile) mkdirSync(profile, { recursive: true })
  const nodeOptions = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []
  const photos = await photosIn(temporary, photo)
  const results = []
  for (const work of WORKS.filter(({ name }) => only.includes(name))) {
    results.push({ work, runs: await compare(work, { runs, size, photos, temporary, nodeOptions }) })
  }
  return `${machine({ runs })}\n\n${table(results)}`
}

/** All runs of a work's contenders in turn: what else the machine does meets each of them. */
async function compare(work, { runs, ...options }) {
  const contenders = work.contenders.filter(({ isInstalled }) => isInstalled?.() ?? true)
  const outcomes = new Map()
  const rounds = []
  for (let i = 1; i <= runs; i += 1) {
    const round = new Map()
    // Another one begins each time.
    for (const contender of [
      ...contenders.slice(i % contenders.length),
      ...contenders.slice(0, i % contenders.length),
    ]) {
      const { figures, outcome } = await measure(work, contender, options)
      const { rate, cpuMs } = figures
      say(`${work.name} ${i}/${runs}  ${contender.name}: ${rate.toFixed(1)}/s, ${cpuMs.toFixed(2)} ms of CPU`)
      round.set(contender.name, figures)
      outcomes.set(contender.name, outcome)
    }
    rounds.push(round)
  }
  expectEqual(work, outcomes)
  return rounds
}

/** @throws {Error} when one of them has done other work than Sluice */
function expectEqual({ name }, outcomes) {
  const [[, expected], ...others] = outcomes
  for (const [contender, outcome] of others) {
    if (isDeepStrictEqual(outcome, expected)) continue
    const [wanted, received] = [expected, outcome].map((value) => JSON.stringify(value))
    throw new Error(`${name}: expected ${wanted} of ${contender}, as of Sluice, received ${received}`)
  }
}
