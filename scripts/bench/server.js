import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../ready/run.js'

const START_MS = 30_000
// Linux tells a process's time in ticks of 1/100 s, whatever the kernel's own are: proc(5), sysconf(3).
const TICKS_PER_SECOND = 100

/** A process that serves, and what the kernel knows of it. */
export class Server {
  #child
  #ended
  url

  constructor(child, url) {
    this.#child = child
    this.#ended = once(child, 'exit')
    // A bench that is broken off leaves none behind.
    process.once('exit', this.#kill)
    this.url = url
  }

  get pid() {
    return this.#child.pid
  }

  /** Of all its threads, user and system, since its start. */
  async cpuSeconds() {
    const stat = await readFile(`/proc/${this.#child.pid}/stat`, 'utf8')
    // After the name, which may hold anything, the third field comes first: utime is the 14th, stime the 15th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  }

  /** The most that it has had in memory at any time. */
  async peakBytes() {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) * 1024
  }

  async stop() {
    this.#child.kill('SIGTERM')
    await this.#ended
    process.off('exit', this.#kill)
  }

  #kill = () => this.#child.kill('SIGKILL')
}

/**
 * Starts a script of Node that prints "ready at http://localhost:<port>", and waits for that. What it prints goes to a
 * file, as under a service manager.
 *
 * @param {{script: string[], env?: object, folder: string}} options arguments of Node, and where the file may be
 */
export async function startServer({ script, env = {}, folder }) {
  const log = join(folder, 'output.log')
  const output = openSync(log, 'a')
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, script, {
    cwd: root,
    env: { PATH, NODE_ENV: 'production', PORT: '0', HOST: '127.0.0.1', ...env },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  const startedAt = performance.now()
  for (;;) {
    const printed = readFileSync(log, 'utf8')
    const port = /ready at http:\/\/localhost:(\d+)/.exec(printed)?.[1]
    if (port) return new Server(child, `http://127.0.0.1:${port}`)
    if (child.exitCode !== null || child.signalCode !== null || performance.now() - startedAt > START_MS) {
      child.kill('SIGKILL')
      throw new Error(`${script.at(-1)} did not start:\n${printed}`)
    }
    await sleep(20)
  }
}
