import type { Command } from 'commander'

/** The programs of Sluice that run until a signal ends them. */
export type Program = 'main' | 'worker'

export interface ProgramCommandsOptions {
  /** Becomes this program, with these arguments. */
  become(program: Program, args: readonly string[]): Promise<void>
}

/** Adds `start` and `worker`. */
export function addProgramCommands(sluice: Command, { become }: ProgramCommandsOptions): void {
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
  program('worker', 'Start a worker for video and audio jobs. It needs REDIS_URL.', 'worker')
}
