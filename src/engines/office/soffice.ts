import { createHash } from 'node:crypto'
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Problem } from '../../core/problem.ts'
import { isExecutable, pathsOf } from '../programs/path.ts'
import { ProgramError, type Running, runProgram } from '../programs/run.ts'
import { confined } from './confined.ts'
import { SETTINGS } from './settings.ts'

// It prints a line for each file.
const MAX_PRINTED_BYTES = 100_000
// With a new profile it sets this up, and asks for another start.
const RESTART = 81

/** The command that installs what is needed of LibreOffice, for the operator: 100 MB to download, 310 MB on the disk. */
export const INSTALL =
  'sudo apt-get install --no-install-recommends libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui'

/** Problem 501: the installation lacks LibreOffice. */
export function notInstalled(): Problem {
  return new Problem({
    status: 501,
    code: 'not_installed',
    detail: `Transformations of Office documents need LibreOffice, which this server does not have. Install with: ${INSTALL}`,
  })
}

/**
 * Finds LibreOffice: the program itself, which `soffice` only starts. As a single process it can be watched and killed.
 * @returns undefined when it is not installed
 */
export async function findSoffice(env: Running['env']): Promise<string | undefined> {
  for (const path of pathsOf('soffice', env)) {
    const script = await realpath(path).catch(() => undefined)
    if (script === undefined) continue
    // On macOS, `soffice` is the program.
    for (const program of [join(dirname(script), 'soffice.bin'), script])
      if (await isExecutable(program)) return program
  }
  return undefined
}

/**
 * Converts a document into `<name>.pdf` in the same folder, with a profile in that folder. It opens no display and no network
 * connection, runs no macros, and, where it can be confined, reads no other file that the document names.
 *
 * @param folder only for this document
 * @throws Problem 422 when it takes too long or too much memory, Error when LibreOffice fails. It may succeed without an output
 */
export async function convertToPdf(
  program: string,
  { folder, file, running }: { folder: string; file: string; running: Running },
): Promise<void> {
  const profile = join(folder, 'profile')
  await mkdir(join(profile, 'user'), { recursive: true })
  await writeFile(join(profile, 'user', 'registrymodifications.xcu'), SETTINGS)
  const url = String(pathToFileURL(profile))
  const args = [
    `-env:UserInstallation=${url}`,
    ...['--headless', '--norestore', '--nologo', '--nodefault', '--nolockcheck'],
    ...['--convert-to', 'pdf', '--outdir', folder, join(folder, file)],
  ]
  const options = {
    ...running,
    // Its own temporary files are removed with the folder, too.
    env: { ...running.env, HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8', SAL_USE_VCLPLUGIN: 'svp' },
    maxBytes: MAX_PRINTED_BYTES,
  }
  // The kernel ends it at this CPU time, also when this process has been killed. Two of its threads may be busy at the same time.
  const cpuSeconds = 2 * Math.ceil(running.timeoutMs / 1000)
  const limited = ['-c', 'ulimit -t "$1"; shift; exec "$0" "$@"', program, String(cpuSeconds), ...args]
  const reads = [dirname(dirname(program))]
  const confinedShell = await confined(['/bin/sh', ...limited], { folder, reads, env: running.env })
  const [command, commandArgs] = confinedShell ?? ['/bin/sh', limited]
  const attempt = () => runProgram(command, commandArgs, options)
  try {
    await attempt().catch((error) => {
      if (!(error instanceof ProgramError && error.exitCode === RESTART)) throw error
      return attempt()
    })
  } finally {
    await rm(socketOf(url), { force: true })
  }
}

/** Where LibreOffice waits for further documents, whatever TMPDIR is. The file remains when it crashes or is killed. */
export function socketOf(profile: string): string {
  const digest = createHash('md5').update(profile, 'utf16le').digest()
  // Without leading zeros.
  const name = Array.from(digest, (byte) => byte.toString(16)).join('')
  return `/tmp/OSL_PIPE_${process.getuid?.()}_SingleOfficeIPC_${name}`
}
