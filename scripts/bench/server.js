import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
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

  /** Of all its threads and those of the processes that it has started, user and system, since its start. */
  async cpuSeconds() {
    const ticks = await Promise.all(
      this.#processes().map(async (pid) => {
        const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
        // After the name, which may hold anything, the third field comes first. From the 14th on: utime, stime, and both
        // of children that have ended.
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
      }),
    )
    return ticks.reduce((sum, count) => sum + count, 0) / TICKS_PER_SECOND
  }

  /** The most that each of them has had in memory at any time, together. */
  async peakBytes() {
    const peaks = await Promise.all(
      this.#processes().map(async (pid) => {
        const status = await readFile(`/proc/${pid}/status`, 'utf8')
        return Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) * 1024
      }),
    )
    return peaks.reduce((sum, bytes) => sum + bytes, 0)
  }

  /** The server's own number, and those of its children: of what they started in turn, it has none. */
  #processes() {
    const started = readdirSync(`/proc/${this.pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${this.pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
    )
    return [this.pid, ...started]
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
 * @param {{program?: string, script: string[], env?: object, folder: string}} options arguments of Node, unless another
 *   program is named, and where the file may be
 */
export async function startServer({ program = process.execPath, script, env = {}, folder }) {
  const log = join(folder, 'output.log')
  const output = openSync(log, 'a')
  const { PATH = '' } = process.env
  const child = spawn(program, script, {
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
