import type { Command } from 'commander'
import { addInitCommand, type InitArguments } from './init/init-command.ts'
import { subcommand } from './leaf-command.ts'
import { addUpgradeCommand, type UpgradeArguments } from './upgrade/upgrade-command.ts'

/** The programs of Sluice that run until a signal ends them. */
export type Program = 'main' | 'worker'

export interface ProgramCommandsOptions {
  /** Becomes this program, with these arguments. */
  become(program: Program, args: readonly string[]): Promise<void>
  /** Checks the installation, and prints the results. */
  diagnose(options: { json?: boolean }): Promise<void>
  /** Writes a plugin of this name and its test. */
  newPlugin(name: string): Promise<void>
  /** Writes a folder for an installation. */
  init(given: InitArguments): Promise<void>
  /** Prints what has changed since the version of a folder. */
  upgrade(folder: string, given: UpgradeArguments): Promise<void>
}

/** Adds `init`, `start`, `worker`, `doctor`, `upgrade` and `plugin`. */
export function addProgramCommands(
  sluice: Command,
  { become, diagnose, newPlugin, init, upgrade }: ProgramCommandsOptions,
): void {
  addInitCommand(sluice, init)
  const program = (name: string, description: string, which: Program) =>
    sluice
      .command(name)
      .description(description)
      // The program has its own options, and a help text with all variables.
      .helpOption(false)
      .allowUnknownOption()
      .argument('[options...]', 'options of the program: --help, --check')
      .action((_, __, { args }: Command) => become(which, args))
  program('start', 'Start the server. Files and credentials are in ./data, unless DATA_DIR is set.', 'main')
  program('worker', 'Start a worker for media jobs. It needs REDIS_URL.', 'worker')
  subcommand(
    sluice,
    'doctor',
    'Check configuration, bucket, Redis, ffmpeg, clock, disk and memory, and print what to do. Exit code 1 after a problem.',
  ).action(({ json }) => diagnose({ json }))
  addUpgradeCommand(sluice, upgrade)
  sluice
    .command('plugin')
    .description('Develop plugins.')
    .command('new')
    .description('Write an image plugin with one parameter, and its test.')
    .argument('<name>', 'name of the parameter, such as solarize')
    .action((name) => newPlugin(name))
}
