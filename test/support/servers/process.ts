import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tokens } from '../../../src/service/clients/clients.ts'
import { expectNoSecrets } from '../secrets.ts'
import { PROJECT, TEST_DEFAULTS } from '../service.ts'

/** A process of ours and what it has printed so far. */
export interface Running {
  child: ChildProcess
  /** Standard output and standard error, in the order in which they came. */
  output(): string
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
}

/** A web process that answers. */
export interface RunningServer extends Running {
  url: string
  tokens: Tokens
  pid: number
}

export const BUILT_SERVER = [join(PROJECT, 'dist', 'src', 'main.js')]
const NODE = join(PROJECT, 'scripts', 'node.sh')

/** What a process is started with. */
export interface Start {
  /** Arguments of the program: by default, the script of the built server. */
  script?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Default: Node, as `npm start` starts it. */
  program?: string
  /** The folder of the service, when it is not this one. */
  folder?: string
}

/** Starts a program with nothing of this environment but what it needs. */
export function run({ script = BUILT_SERVER, env = {}, program, folder = PROJECT }: Start): Running {
  const { PATH = '', NODE_V8_COVERAGE } = process.env
  const coverage = NODE_V8_COVERAGE ? { NODE_V8_COVERAGE } : {}
  // Tests of these two variables set them.
  const inherited = { PATH, SHUTDOWN_DELAY_SECONDS: '0', ...TEST_DEFAULTS, ...coverage }
  const [file, before] = program ? [program, []] : ['sh', [NODE]]
  const child = spawn(file, [...before, ...script], { cwd: folder, env: { ...inherited, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = once(child, 'close').then(([code, signal]) => {
    // Ignores the banner, which shows the operator the secret that was created at the first start.
    const logged = output.split('\n').filter((line) => line.startsWith('{'))
    expectNoSecrets(logged.join('\n'), env)
    return code ?? signal
  })
  return { child, output: () => output, ended }
}

/** Starts the built server, or another script that prints the same banner, on a free port and waits until it answers. */
export async function startProcess({ env = {}, ...start }: Start): Promise<RunningServer> {
  const running = run({ ...start, env: { PORT: '0', HOST: '127.0.0.1', ...env } })
  const url = await readyUrl(running)
  return { ...running, url, tokens: await tokensOf(env), pid: running.child.pid ?? 0 }
}

/** The tokens of the environment, or those that the process has created. */
export async function tokensOf(env: Readonly<Record<string, string>>): Promise<Tokens> {
  const { CLIENT_TOKEN: clientToken, SECRET_CLIENT_TOKEN: secretClientToken, DATA_DIR = '' } = env
  if (clientToken && secretClientToken) return { clientToken, secretClientToken }
  return JSON.parse(await readFile(join(DATA_DIR, 'credentials.json'), 'utf8'))
}

/** Runs the built server to its end; for those that must not start. */
export async function runToEnd(env: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const running = run({ script: [...BUILT_SERVER, ...args], env })
  const code = await running.ended
  return { code, output: running.output() }
}

/** The address in the banner, as soon as that is printed. */
async function readyUrl({ child, output, ended }: Running): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      const url = /Sluice is ready at http:\/\/localhost:(\d+)/.exec(output())
      if (url) resolve(`http://127.0.0.1:${url[1]}`)
    })
    void ended.then((how) =>
      reject(new Error(`the server ended with ${how} before it was ready:\n${output()}`)),
    )
  })
}
