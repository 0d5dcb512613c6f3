import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

/** The root folder of the project. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Prints a message to stderr, since stdout belongs to the program that is run. */
export const say = (text) => console.error(text)

/** Runs a command's work. A failure prints one message, without a stack, and exits with code 1. */
export async function command(work) {
  try {
    await work()
  } catch (error) {
    say(error.message)
    process.exit(1)
  }
}

// The last output of a program may arrive after its exit.
const LAST_WORDS_MS = 1000

/**
 * Runs a program in the project's folder, on this terminal, and forwards signals to it.
 *
 * @param options those of `spawn`; `isApart` pipes its output through this process, so that a process that it leaves
 *   behind does not keep readers of this process's output waiting
 * @returns {Promise<number>} its exit code; 128 plus the signal's number when a signal ended it, as in shells
 */
export function run(file, args, { isApart = false, ...options } = {}) {
  const output = isApart ? 'pipe' : 'inherit'
  const child = spawn(file, args, { cwd: root, stdio: ['ignore', output, output], ...options })
  child.stdout?.pipe(process.stdout, { end: false })
  child.stderr?.pipe(process.stderr, { end: false })
  const signals = ['SIGINT', 'SIGTERM']
  const forward = (signal) => {
    // The terminal has already sent Ctrl-C to the child. A forwarded second one would mean "stop at once".
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
