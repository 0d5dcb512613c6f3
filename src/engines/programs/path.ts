import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Running } from './run.ts'

// Of glibc, for an environment without PATH.
const DEFAULT_PATH = '/bin:/usr/bin'

/** The paths where execvp(3) looks for a program, in its order. */
export function pathsOf(program: string, { PATH = DEFAULT_PATH }: Running['env']): string[] {
  return PATH.split(delimiter).map((folder) => join(folder, program))
}

/** Whether this process may run the file. */
export function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
