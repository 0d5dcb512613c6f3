import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { command } from '../../support/command.ts'
import { slowFfmpeg } from '../../support/media/slow-ffmpeg.ts'
import { NO_LIMITS } from '../../support/no-limits.ts'
import { startGuideNginx } from '../../support/peers/guide-nginx.ts'
import { receiver } from '../../support/requests/receiver.ts'
import { type FleetOptions, newFleet } from '../../support/servers/fleet.ts'
import { freePort } from '../../support/servers/free-port.ts'
import { tokensOf } from '../../support/servers/process.ts'
import { PROJECT, startService } from '../../support/service.ts'
import { startLoad } from './load.ts'

// Until Heroku kills a process after SIGTERM.
const KILL_MS = 30_000
const SLOW_MS = 30_000
// A film of 3 s keeps a worker busy for 6 s.
const FFMPEG_SPEED = 0.5

/** A process of a Procfile. */
export interface Dyno {
  /** Ends it as Heroku does. @throws AssertionError unless it ends by itself in time */
  stop(): Promise<void>
}

export interface DynoOptions {
  /** The line of the Procfile. */
  type: 'web' | 'worker'
  /** Its disk, and for a web process its port: a number from 0. */
  place: number
  /** The folder of the version. Default: this one. */
  folder?: string
}

export type Installation = Awaited<ReturnType<typeof install>>

/**
 * An installation as on Heroku: each process runs a line of the Procfile with the variables of `app.json`, and has a disk of its own.
 * nginx is in front of `webs` web processes, as docs/how-to/nginx.md has it.
 */
export async function install({ webs, redis }: { webs: number } & Pick<FleetOptions, 'redis'>) {
  const ports = await Promise.all(Array.from({ length: webs }, freePort))
  const [nginx, events, ffmpeg] = await Promise.all([
    startGuideNginx(ports.map((port) => `127.0.0.1:${port}`)),
    receiver(),
    slowFfmpeg(FFMPEG_SPEED),
  ])
  const app = JSON.parse(await readFile(join(PROJECT, 'app.json'), 'utf8'))
  const values = Object.entries(app.env as Record<string, { value?: string }>).flatMap(([name, { value }]) =>
    value === undefined ? [] : [[name, value]],
  )
  const fleet = await newFleet({
    ...(redis ? { redis } : {}),
    env: {
      ...NO_LIMITS,
      MEDIA_JOBS_LIMIT: '100',
      LOG_LEVEL: 'warn',
      BASE_URL: nginx.url,
      HOST: '127.0.0.1',
      PATH: ffmpeg.PATH,
      WEBHOOK_URL: events.url('/'),
      WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
      WEBHOOK_ALLOW_ADDRESSES: '127.0.0.0/8',
    },
  })
  const disks = fleet.env.DATA_DIR as string
  // The default delay, which the tests shorten otherwise.
  const env = { ...Object.fromEntries(values), ...fleet.env, SHUTDOWN_DELAY_SECONDS: '3' }
  const caller = { url: nginx.url, tokens: await tokensOf(env) }

  async function run(type: string, name: string, folder = PROJECT) {
    const procfile = await readFile(join(folder, 'Procfile'), 'utf8')
    const line = new RegExp(`^${type}: (.+)$`, 'm').exec(procfile)?.[1]
    const DATA_DIR = join(disks, name)
    const TMPDIR = join(DATA_DIR, 'tmp')
    await mkdir(TMPDIR, { recursive: true })
    const place = Number(name.split('.')[1])
    return fleet.run({
      program: 'sh',
      script: ['-c', `exec ${line}`],
      folder,
      env: { ...env, DATA_DIR, TMPDIR, PORT: `${ports[place] ?? 0}` },
    })
  }

  return {
    fleet,
    run,
    load: () => startLoad({ caller, receiver: events, slowMs: SLOW_MS }),

    /** Runs the release phase. @throws AssertionError when it fails */
    async release(folder?: string): Promise<void> {
      const { ended, output } = await run('release', 'release', folder)
      expect(await ended, output()).to.equal(0)
    },

    /** Starts a process. Resolves when it is ready. */
    async start({ type, place, folder }: DynoOptions): Promise<Dyno> {
      const name = `${type}.${place}`
      const { child, ended, output } = await run(type, name, folder)
      await new Promise<void>((resolve, reject) => {
        child.stdout?.on('data', () => {
          if (/Sluice is ready|the worker is ready/.test(output())) resolve()
        })
        void ended.then((how) => reject(new Error(`${name} ended with ${how}:\n${output()}`)))
      })
      return {
        async stop() {
          child.kill('SIGTERM')
          const kill = setTimeout(() => child.kill('SIGKILL'), KILL_MS)
          const how = await ended
          clearTimeout(kill)
          expect(how, `the end of ${name}, with the log:\n${output().slice(-3000)}`).to.equal(0)
        },
      }
    },

    /** Files that the stopped processes have left on their disks. */
    async leftOnDisks(): Promise<string[]> {
      const entries = await readdir(disks, { recursive: true, withFileTypes: true })
      return entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(disks.length + 1))
    },

    /** The differences that `sluice check` finds. */
    async findings(): Promise<string[]> {
      const service = await startService({ env: fleet.env, dataDir: disks })
      const { findings } = await command(service, 'check', { digests: true })
      await service.stop({ keepData: true })
      return findings
    },

    async end(): Promise<void> {
      await fleet.end()
      await Promise.all([nginx.stop(), events.close(), rm(ffmpeg.folder, { recursive: true })])
    },
  }
}

/** Builds an earlier commit in a folder of its own. Its packages are those of this version where the lock file is the same. */
export async function buildAt(commit: string, folder: string): Promise<void> {
  const sh = promisify(execFile)
  await sh('git', ['clone', '--quiet', '--shared', '--no-checkout', PROJECT, folder])
  await sh('git', ['checkout', '--quiet', commit], { cwd: folder })
  for (const packages of ['.', 'dashboard']) {
    const [own, same] = await Promise.all(
      [PROJECT, folder].map((root) => readFile(join(root, packages, 'package-lock.json'), 'utf8')),
    )
    const [from, to] = [PROJECT, folder].map((root) => join(root, packages, 'node_modules')) as [
      string,
      string,
    ]
    if (own === same) await sh('ln', ['-s', from, to])
    else await sh('npm', ['ci', '--ignore-scripts'], { cwd: join(folder, packages) })
  }
  await sh('node', ['scripts/build.js'], { cwd: folder })
}
