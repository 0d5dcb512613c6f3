import { failureText } from '../output.ts'
import { type InitOptions, init, WrongChoice } from './init.ts'
import type { InitArguments } from './init-command.ts'

const FAILED = 1
const WRONG_USAGE = 2

/** Writes the folder, and prints failures. @returns the exit code */
export async function runInit(
  { yes, ...given }: InitArguments,
  { terminal, writeError, ...options }: InitOptions & { writeError(text: string): void },
): Promise<number> {
  try {
    return await init(given, { ...options, terminal: yes ? undefined : terminal })
  } catch (error) {
    writeError(`sluice: ${failureText(error as Error)}\n`)
    return error instanceof WrongChoice ? WRONG_USAGE : FAILED
  }
}
