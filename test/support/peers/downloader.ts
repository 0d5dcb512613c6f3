import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { eventually } from '../eventually.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { environment } from './program.ts'

/** What a program has left behind. */
export interface Run {
  code: number | null
  /** Standard output, then standard error. */
  said: string
}

/** A program that downloads into one file of its own folder. */
export interface Downloader {
  /** The file as it is now. */
  bytes(): Promise<Buffer>
  /** Puts this there before a run. */
  begin(bytes: Uint8Array): Promise<void>
  /** Runs it to its end. */
  run(args: readonly string[]): Promise<Run>
  /** Ends it as a Ctrl-C does when a part of the file is there. */
  interrupt(args: readonly string[]): Promise<void>
  remove(): Promise<void>
}

/** Its file is called `file`, in the folder it runs in. */
export async function downloader(program: string): Promise<Downloader> {
  const folder = await temporaryFolder()
  const file = join(folder, 'file')
  const start = (args: readonly string[]) =>
    spawn(program, args, { cwd: folder, env: environment(folder), stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = async (child: ChildProcess) => (await once(child, 'close'))[0] as number | null
  return {
    bytes: () => readFile(file),
    begin: (bytes) => writeFile(file, bytes),
    async run(args) {
      const child = start(args)
      const [code, out, errors] = await Promise.all([ended(child), text(child.stdout), text(child.stderr)])
      return { code, said: out + errors }
    },
    async interrupt(args) {
      const child = start(args)
      const end = ended(child)
      for (const stream of [child.stdout, child.stderr]) stream.resume()
      try {
        // Not its size: who fetches several parts at once may write the last one first.
        await eventually(async () => expect((await stat(file)).blocks * 512).to.be.at.least(100_000))
      } finally {
        child.kill('SIGINT')
        await end
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
