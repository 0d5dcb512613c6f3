import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

/** The project's folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Remarks go to stderr: stdout belongs to what is being run. */
export const say = (text) => console.error(text)

/** Does a command's work; a failure is one clear message and exit code 1, without a stack. */
export async function command(work) {
  try {
    await work()
  } catch (error) {
    say(error.message)
    process.exit(1)
  }
}

// What a program has printed last may come after its end.
const LAST_WORDS_MS = 1000

/**
 * Runs a program in the project's folder, on this terminal, to its end, and passes on the signals that come for it.
 *
 * @param options those of `spawn`; `isApart` has what it prints pass through here, so that no process that it leaves behind keeps
 *   whoever reads from this one waiting
 * @returns {Promise<number>} its exit code; 128 and the signal's number when a signal ended it, as shells count
 */
export function run(file, args, { isApart = false, ...options } = {}) {
  const output = isApart ? 'pipe' : 'inherit'
  const child = spawn(file, args, { cwd: root, stdio: ['ignore', output, output], ...options })
  child.stdout?.pipe(process.stdout, { end: false })
  child.stderr?.pipe(process.stderr, { end: false })
  const signals = ['SIGINT', 'SIGTERM']
  const forward = (signal) => {
    // A terminal's Ctrl-C has reached the child already, and a second one means impatience.
    if (signal !== 'SIGINT' || !isatty(0)) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, forward)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', async (code, signal) => {
      if (isApart) await Promise.race([once(child, 'close'), pause(LAST_WORDS_MS)])
      resolve(code ?? 128 + constants.signals[signal])
    })
  }).finally(() => {
    child.stdout?.destroy()
    child.stderr?.destroy()
    for (const signal of signals) process.off(signal, forward)
  })
}
