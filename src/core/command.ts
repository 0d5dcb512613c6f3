/** Something that an operator asks for by its name; the answer is JSON. */
export type Command = (args: unknown, run: CommandRun) => Promise<unknown>

/** By what an operator calls them: `client list`. */
export type Commands = Readonly<Record<string, Command>>

export interface CommandRun {
  /** Aborted when the operator has left. */
  signal: AbortSignal
  /** Hands on a part of the outcome, or how far the work has come: JSON. Resolves when there is room for more. */
  tell(item: unknown): Promise<void>
}
