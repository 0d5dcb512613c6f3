/** A command of an operator. The arguments and the result are JSON. */
export type Command = (args: unknown, run: CommandRun) => Promise<unknown>

/** Commands by the name that an operator types: `client list`. */
export type Commands = Readonly<Record<string, Command>>

export interface CommandRun {
  /** Aborts when the operator disconnects. */
  signal: AbortSignal
  /** Aborts when the operator wants the command to finish the work in progress, and to begin no more. */
  stop?: AbortSignal
  /** Sends a part of the result, or the progress, as JSON. Resolves when there is room for more. */
  report(item: unknown): Promise<void>
}
