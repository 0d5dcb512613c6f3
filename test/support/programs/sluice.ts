import { EventEmitter } from 'node:events'
import { sluice as runSluice } from '../../../src/command.ts'
import type { Ended } from './cli.ts'

/** A command in progress: as `sluice` runs it, but in this process, where it costs no start of a program. */
export interface RunningCommand {
  ended: Promise<Ended>
  /** As a signal of the operator: Ctrl-C is SIGINT. */
  signal(name: 'SIGINT' | 'SIGTERM'): void
}

/** Starts a command in this process. */
export function startSluice(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): RunningCommand {
  const signals = new EventEmitter()
  let stdout = ''
  let stderr = ''
  const ended = runSluice(args, {
    environment,
    write(text) {
      stdout += text
    },
    writeError(text) {
      stderr += text
    },
    isTerminal: false,
    signals,
    become: (program) => Promise.reject(new Error(`${program} runs in a process of its own only`)),
    startIn: () => Promise.reject(new Error('a server runs in a process of its own only')),
  }).then((code) => ({ code, stdout, stderr }))
  return { ended, signal: (name) => void signals.emit(name) }
}

/** Runs a command in this process to its end. */
export function sluice(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ended> {
  return startSluice(args, environment).ended
}

/** Runs a command in this process, which must succeed, with `--json`. @returns its last line */
export async function sluiceJson<T>(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<T> {
  const { code, stdout, stderr } = await sluice([...args, '--json'], environment)
  if (code !== 0) throw new Error(`sluice ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`)
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
}

/** Runs a command in this process. @returns the lines of its standard output */
export async function sluiceLines(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string[]> {
  return (await sluice(args, environment)).stdout.trimEnd().split('\n')
}
