#!/usr/bin/env node
import { sluice } from './command.ts'
import { keepFilesPrivate } from './process/web/private-files.ts'

keepFilesPrivate()
// The reader may close the pipe early: `sluice check | head`.
process.stdout.on('error', () => process.exit(1))
process.exitCode = await sluice(process.argv.slice(2), {
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  signals: process,
})
