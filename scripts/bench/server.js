import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../ready/run.js'

// A server that cannot start exits. A busy machine needs time.
const START_MS = 120_000
// Linux reports CPU time in ticks of 1/100 s, whatever the kernel's own ticks are: proc(5), sysconf(3).
const TICKS_PER_SECOND = 100

/** A server process, and its resource usage from the kernel. */
export class Server {
  #child
  #ended
  url

  constructor(child, url) {
    this.#child = child
    this.#ended = once(child, 'exit')
    // An aborted benchmark leaves no server behind.
    process.once('exit', this.#kill)
    this.url = url
  }

  get pid() {
    return this.#child.pid
  }

  /** CPU time of all its threads and of its child processes, user and system, since its start. */
  async cpuSeconds() {
    const seconds = await Promise.all(
      this.#processes().map(async (pid) => {
        return cpuSecondsIn(await readFile(`/proc/${pid}/stat`, 'utf8'))
      }),
    )
    return seconds.reduce((sum, one) => sum + one, 0)
  }

  /** The sum of the peak memory of the processes. */
  peakBytes() {
    return this.#memory('VmHWM')
  }

  /** The sum of the current memory of the processes. */
  residentBytes() {
    return this.#memory('VmRSS')
  }

  async #memory(field) {
    const all = await Promise.all(
      this.#processes().map(async (pid) => {
        const status = await readFile(`/proc/${pid}/status`, 'utf8')
        return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)[1]) * 1024
      }),
    )
    return all.reduce((sum, bytes) => sum + bytes, 0)
  }

  /** The PIDs of the server and its children. Grandchildren are not included. */
  #processes() {
    const started = readdirSync(`/proc/${this.pid}/task`).flatMap((thread) => childrenOf(this.pid, thread))
    return [this.pid, ...started]
  }

  async stop() {
    this.#child.kill('SIGTERM')
    await this.#ended
    process.off('exit', this.#kill)
  }

  #kill = () => this.#child.kill('SIGKILL')
}

/** CPU time of this process and of its ended child processes, user and system. */
export function ownCpuSeconds() {
  return cpuSecondsOf('self')
}

/** CPU time of a process and of its ended child processes, user and system. @param {string} pid or `self` */
export function cpuSecondsOf(pid) {
  return cpuSecondsIn(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

function cpuSecondsIn(stat) {
  // The name may contain any character. The third field is the first one after it. From the 14th field on: utime,
  // stime, and both for ended children.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_SECOND
}

/**
 * Starts a Node script that prints "ready at http://localhost:<port>", and waits for that line. Its output goes to a
 * file, as under a service manager.
 *
 * @param {{program?: string, script: string[], env?: object, folder: string}} options `script`: arguments of Node, or
 *   of `program`; `folder`: for the output file
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

/** The processes that a thread has started. A thread may end while it is looked at. */
function childrenOf(pid, thread) {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean)
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return []
    throw error
  }
}
