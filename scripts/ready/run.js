import { spawn } from 'node:child_process'
import { constants } from 'node:os'
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

/**
 * Runs a program in the project's folder, on this terminal, to its end, and passes on the signals that come for it.
 *
 * @returns {Promise<number>} its exit code; 128 and the signal's number when a signal ended it, as shells count
 */
export function run(file, args, options = {}) {
  const child = spawn(file, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], ...options })
  const signals = ['SIGINT', 'SIGTERM']
  const forward = (signal) => {
    // A terminal's Ctrl-C has reached the child already, and a second one means impatience.
    if (signal !== 'SIGINT' || !isatty(0)) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, forward)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
  }).finally(() => {
    for (const signal of signals) process.off(signal, forward)
  })
}
