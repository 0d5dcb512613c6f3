import type { Command } from 'commander'

/** Runs a command of the service with these arguments, and prints its result. */
export type Perform = (command: string, args: object, options: PerformOptions) => Promise<void>

export interface PerformOptions {
  /** Whether JSON lines are printed. */
  json?: boolean
  /** The file for the old and new URLs of an import. */
  map?: string
}

/** Adds a command that runs something, with `--json`; its parents only group commands. */
export function subcommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print JSON lines')
}
