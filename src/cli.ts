#!/usr/bin/env node
import { extname, join } from 'node:path'
import { sluice } from './command.ts'
import type { Program } from './process/cli/program-commands.ts'
import { keepFilesPrivate } from './process/web/private-files.ts'

// The time in which the output can be written.
const LINGER_MS = 2_000

let isProgram = false

/** Runs a program of Sluice in this process, so that signals, arguments and exit code need not be forwarded. */
async function become(program: Program, args: readonly string[]): Promise<void> {
  isProgram = true
  const [node = ''] = process.argv
  // Web processes of a cluster are started from this path.
  process.argv = [node, join(import.meta.dirname, program + extname(import.meta.filename)), ...args]
  await (program === 'main' ? import('./main.ts') : import('./worker.ts'))
}

async function startIn(folder: string, applySettings: () => Promise<void>): Promise<void> {
  process.chdir(folder)
  await applySettings()
  await become('main', [])
}

keepFilesPrivate()
// The reader may close the pipe early: `sluice check | head`.
process.stdout.on('error', () => process.exit(1))
const code = await sluice(process.argv.slice(2), {
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  signals: process,
  become,
  startIn,
  input: process.stdin.isTTY && process.stdout.isTTY ? process.stdin : undefined,
})
// A program sets its own exit code, and is still running.
if (!isProgram) {
  process.exitCode = code
  // A check of the doctor that has reached its time limit may leave a connection open.
  setTimeout(() => process.exit(), LINGER_MS).unref()
}
