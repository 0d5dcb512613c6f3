import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PROJECT } from '../service.ts'

const BUILT_CLI = join(PROJECT, 'dist', 'src', 'cli.js')

/** The result of an operator command. */
export interface Ended {
  /** Its exit code, or the signal that ended it. */
  code: number | NodeJS.Signals
  stdout: string
  stderr: string
}

/** Starts the built command with nothing of this environment but what it needs. */
export function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): { child: ChildProcess; ended: Promise<Ended> } {
  const { PATH = '', NODE_V8_COVERAGE } = process.env
  const inherited = { PATH, ...(NODE_V8_COVERAGE ? { NODE_V8_COVERAGE } : {}) }
  const child = spawn(process.execPath, [BUILT_CLI, ...args], { cwd: PROJECT, env: { ...inherited, ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code: code ?? signal, stdout, stderr }))
  return { child, ended }
}

/** Runs the built command to its end. */
export function sluice(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  return startCli(args, env).ended
}

/** Runs the built command, which must succeed, with `--json`. @returns its last line */
export async function sluiceJson<T>(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<T> {
  const { code, stdout, stderr } = await sluice([...args, '--json'], env)
  if (code !== 0) throw new Error(`sluice ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`)
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
}
