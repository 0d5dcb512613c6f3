import { execFile } from 'node:child_process'
import { cp, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { atEnd } from '../servers/at-end.ts'
import { PROJECT } from '../service.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const run = promisify(execFile)
/** The compiled library, which is copied into each folder. */
let compiled: Promise<string> | undefined
atEnd(async () => {
  const output = await compiled?.catch(() => undefined)
  if (output !== undefined) await rm(output, { recursive: true })
})

/**
 * A new folder with the client library in `node_modules/sluice`, compiled from the sources, in one second for the first of a process.
 * The rest of the package is missing: `installPackage` has all of it, and needs a build of the project.
 */
export async function installClient(): Promise<string> {
  const folder = await temporaryFolder()
  const installed = join(folder, 'node_modules', 'sluice')
  compiled ??= compile()
  await cp(await compiled, join(installed, 'dist', 'client'), { recursive: true })
  await symlink(join(PROJECT, 'package.json'), join(installed, 'package.json'))
  return folder
}

async function compile(): Promise<string> {
  const output = await temporaryFolder()
  const tsc = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = [tsc, '--project', join(PROJECT, 'client'), '--outDir', output]
  await run(process.execPath, args).catch((error: { stdout: string }) => {
    throw new Error(error.stdout)
  })
  return output
}
