import type { Command } from 'commander'

/** Has a command of the service done with these arguments, and shows what comes of it. */
export type Perform = (command: string, args: object, options: { json?: boolean }) => Promise<void>

/** One that does something, below others that only lead to it. */
export function subcommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print JSON lines, for programs')
}
