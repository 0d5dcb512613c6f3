import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { playHistory } from '../test/simulation/history.ts'

const HELP = `npm run simulate -- [--minutes <number>] [--seed <number>]

Plays random histories of several processes on stores that fail, for a minute by default, on all cores, from this seed on, by default
from a new one. Prints each history that breaks a law with its seed, and how many were played. With --minutes 0 it plays one history,
and prints what happens in it. See docs/explanation/simulation.md.`

const PART = 100

/** @returns the histories of a part of the seeds that break a law */
async function playPart(from) {
  const broken = []
  for (let seed = from; seed < from + PART; seed += 1) {
    const { violations } = await playHistory(seed)
    if (violations.length > 0) broken.push({ seed, violations })
  }
  return broken
}

async function tellOne(seed) {
  const { story, violations } = await playHistory(seed, { tells: true })
  console.log([...story, ...violations.map((one) => `broken: ${one}`)].join('\n'))
  process.exitCode = violations.length > 0 ? 1 : 0
}

/** Plays on all cores until the time is over. */
async function playMany(first, minutes) {
  const until = Date.now() + minutes * 60_000
  let next = first
  let played = 0
  let broken = 0
  const onCore = () =>
    new Promise((resolve, reject) => {
      const child = fork(import.meta.filename, ['--part'], { execArgv: [...process.execArgv, ...FAST] })
      const more = () => {
        if (Date.now() >= until) return child.disconnect()
        child.send(next)
        next += PART
      }
      child.on('message', (found) => {
        played += PART
        broken += found.length
        for (const { seed, violations } of found)
          console.log(`seed ${seed}\n${violations.map((one) => `  ${one}\n`).join('')}`)
        more()
      })
      child.on('error', reject)
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a process ended with ${code}`))))
      more()
    })
  await Promise.all(Array.from({ length: availableParallelism() }, onCore))
  console.log(`${played} histories from seed ${first}: ${broken} break a law`)
  process.exitCode = broken > 0 ? 1 : 0
}

// Without stacks of errors, and with a larger heap for young objects, a history takes a third less time.
const FAST = ['--stack-trace-limit=0', '--max-semi-space-size=64']

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    part: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
if (values.part) process.on('message', async (from) => process.send?.(await playPart(from)))
else if (values.help || !(minutes >= 0) || !Number.isSafeInteger(seed)) console.log(HELP)
else if (minutes === 0) await tellOne(seed)
else await playMany(seed, minutes)
