import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { eventually } from '../eventually.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** A foreign program that runs during the tests. */
export interface Program {
  /** Its third and fourth file, for programs that are spoken to there: what it reads, what it writes. */
  input: Writable
  output: Readable
  /** Ends it and removes its folder. */
  stop(): Promise<void>
}

/**
 * Nothing of this environment but where programs are, which for servers may not be in everybody's PATH; and names of
 * files in UTF-8.
 */
export const environment = (home: string) => ({
  PATH: `${process.env.PATH}:/usr/sbin`,
  HOME: home,
  LC_ALL: 'C.UTF-8',
})

// The shell holds the program's life in its standard input: when this process ends, however it ends, the program does.
const LIFELINE = '"$0" "$@" & read -r _; kill $!; wait $!'

/**
 * Starts a program with a folder of its own, and waits until something listens on `port`, if there is one.
 * @throws Error with its output when it does not start
 */
export async function startProgram({
  name,
  port,
  args,
}: {
  name: string
  port?: number
  args: (folder: string) => Promise<readonly string[]> | readonly string[]
}): Promise<Program> {
  const folder = await temporaryFolder()
  const shell: ChildProcess = spawn('sh', ['-c', LIFELINE, name, ...(await args(folder))], {
    cwd: folder,
    env: environment(folder),
    stdio: ['pipe', 'ignore', 'pipe', 'pipe', 'pipe'],
  })
  let said = ''
  shell.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [, , , input, output] = shell.stdio as unknown as [unknown, unknown, unknown, Writable, Readable]
  input.on('error', () => {})
  const stop = async () => {
    const closed = once(shell, 'close')
    shell.stdin?.end()
    await closed
    await rm(folder, { recursive: true, force: true })
  }
  try {
    if (port !== undefined) await eventually(() => connected(port))
  } catch (error) {
    await stop()
    throw new Error(`${name} does not listen on ${port}; it says:\n${said}`, { cause: error })
  }
  return { input, output, stop }
}

async function connected(port: number): Promise<void> {
  const socket = createConnection(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
  } finally {
    socket.destroy()
  }
}
