import { execFile } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { MIB } from '../support/heavy.ts'
import { sluiceJson } from '../support/programs/cli.ts'
import type { Caller } from '../support/requests/client.ts'
import { type RunningServer, startProcess } from '../support/servers/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { getFrom } from './attack.ts'

/** A built server with its default limits, on a data folder of its own. */
export interface Attacked extends RunningServer {
  dataDir: string
  /** One more client, with tokens of its own. */
  newClient(): Promise<Caller>
  /** Bytes of all files of the data folder. */
  diskBytes(): Promise<number>
}

/** Of the suite that calls it: a server for each test. @returns what the test's server is */
export function attackedServer(env: Readonly<Record<string, string>> = {}): () => Attacked {
  let server: Attacked
  beforeEach(async () => {
    const dataDir = await temporaryFolder()
    const started = await startProcess({ env: { DATA_DIR: dataDir, LOG_LEVEL: 'error', ...env } })
    server = {
      ...started,
      dataDir,
      newClient: async () => ({
        url: started.url,
        tokens: await sluiceJson<RunningServer['tokens']>(['client', 'create'], { DATA_DIR: dataDir }),
      }),
      async diskBytes() {
        const { stdout } = await promisify(execFile)('du', ['-sb', dataDir])
        return Number.parseInt(stdout, 10)
      },
    }
  })
  afterEach(async () => {
    server.child.kill('SIGTERM')
    await server.ended
    await rm(server.dataDir, { recursive: true, force: true })
  })
  return () => server
}

/** How the server was while it was attacked. */
export interface Figures {
  /**
   * Milliseconds until `/healthz` answered, asked every 50 ms. They should be below 100; tests allow 250, for a machine that
   * does other work.
   */
  health: { p50: number; p99: number; max: number }
  /** The most that the process and its children had in memory together, in MiB. */
  peakMib: number
  seconds: number
}

/**
 * Checks the server's health and its memory while `work` runs. Prints the figures for
 * docs/explanation/security.md.
 */
export async function watched<T>(
  server: Attacked,
  work: () => Promise<T>,
): Promise<{ outcome: T; figures: Figures }> {
  const began = performance.now()
  let isOver = false
  const waits: number[] = []
  let peak = 0
  const looking = (async () => {
    while (!isOver) {
      const asked = performance.now()
      expect(await getFrom('127.0.0.9', `${server.url}/healthz`)).to.equal(200)
      waits.push(performance.now() - asked)
      peak = Math.max(peak, await residentOfAll(server.pid))
      await pause(50)
    }
  })()
  const outcome = await work().finally(() => {
    isOver = true
  })
  await looking
  waits.sort((a, b) => a - b)
  const at = (part: number) =>
    Math.round(waits[Math.min(waits.length - 1, Math.floor(waits.length * part))] ?? 0)
  const seconds = Math.round((performance.now() - began) / 100) / 10
  const figures = {
    health: { p50: at(0.5), p99: at(0.99), max: at(1) },
    peakMib: Math.round(peak / MIB),
    seconds,
  }
  console.log(`      ${JSON.stringify(figures)}`)
  return { outcome, figures }
}

/** Of a process and all that it has started: proc(5), VmRSS. */
async function residentOfAll(pid: number): Promise<number> {
  const all = new Map<number, { parent: number; bytes: number }>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '')
    const [parent, kilobytes] = [/PPid:\s+(\d+)/, /VmRSS:\s+(\d+)/].map((field) =>
      Number(field.exec(status)?.[1] ?? 0),
    )
    all.set(Number(name), { parent: parent ?? 0, bytes: (kilobytes ?? 0) * 1024 })
  }
  const isOurs = (one: number): boolean => one === pid || (all.has(one) && isOurs(all.get(one)?.parent ?? 0))
  return [...all].filter(([one]) => isOurs(one)).reduce((sum, [, { bytes }]) => sum + bytes, 0)
}
