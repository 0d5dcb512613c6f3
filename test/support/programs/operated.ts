import { rm } from 'node:fs/promises'
import { type Caller, postFiles } from '../requests/client.ts'
import { type Service, startService } from '../service.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Ended } from './cli.ts'
import { sluice, sluiceJson, sluiceLines } from './sluice.ts'

/** A new client, as `sluice client create --json` prints it. */
export interface NewClient {
  id: string
  clientToken: string
  secretClientToken: string
}

/** A data folder of an operator, new for each test, with its services and commands in this process. */
export interface Operated {
  readonly dataDir: string
  readonly env: Readonly<Record<string, string>>
  /** Starts a service on the folder. */
  start(env?: Readonly<Record<string, string>>): Promise<Service>
  /** Stops a service. Its folder remains. */
  end(service: Service): Promise<void>
  sluice(...args: readonly string[]): Promise<Ended>
  newClient(): Promise<NewClient>
  /** Runs a command, which must succeed, with `--json`. @returns its last line */
  json<T>(...args: readonly string[]): Promise<T>
  /** Runs a command. @returns the lines of its standard output */
  lines(...args: readonly string[]): Promise<string[]>
}

/**
 * Registers hooks that create the folder before each test, and remove it after the test.
 *
 * @param hooks `before` and `after`, for one folder of all tests
 */
export function operated(
  [begin, finish]: readonly [Mocha.HookFunction, Mocha.HookFunction] = [beforeEach, afterEach],
): Operated {
  const running = new Set<Service>()
  let dataDir = ''
  const env = () => ({ DATA_DIR: dataDir })
  const end = async (service: Service) => {
    if (running.delete(service)) await service.stop({ keepData: true })
  }
  begin(async () => {
    dataDir = await temporaryFolder()
  })
  finish(async () => {
    for (const service of running) await end(service)
    await rm(dataDir, { recursive: true, force: true })
  })
  return {
    get dataDir() {
      return dataDir
    },
    get env() {
      return env()
    },
    async start(more = {}) {
      const service = await startService({ env: more, dataDir })
      running.add(service)
      return service
    },
    end,
    sluice: (...args) => sluice(args, env()),
    json: (...args) => sluiceJson(args, env()),
    newClient: () => sluiceJson(['client', 'create'], env()),
    lines: (...args) => sluiceLines(args, env()),
  }
}

/** A client of a service, for requests. */
export const asCaller = ({ url }: Pick<Caller, 'url'>, tokens: NewClient): Caller => ({ url, tokens })

/** Whether the service accepts an upload with this secret. */
export async function isAccepted(caller: Caller, secret = caller.tokens.secretClientToken): Promise<boolean> {
  return (await postFiles(caller, [{ name: 'a.txt', bytes: 'text' }], { secret })).status === 200
}
