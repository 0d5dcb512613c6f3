import type { Command } from 'commander'

/** Runs a command of the service with these arguments, and prints its result. */
export type Perform = (command: string, args: object, options: { json?: boolean }) => Promise<void>

/** Adds a command that runs something, with `--json`; its parents only group commands. */
export function subcommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print JSON lines')
}
