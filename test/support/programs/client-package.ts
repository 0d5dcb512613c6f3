import { execFile } from 'node:child_process'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from '../service.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const run = promisify(execFile)

/**
 * A new folder with the client library in `node_modules/sluice`, compiled from the sources, in one second. The rest of the package is
 * missing: `installPackage` has all of it, and needs a build of the project.
 */
export async function installClient(): Promise<string> {
  const folder = await temporaryFolder()
  const installed = join(folder, 'node_modules', 'sluice')
  await mkdir(join(installed, 'dist'), { recursive: true })
  await symlink(join(PROJECT, 'package.json'), join(installed, 'package.json'))
  const tsc = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc')
  const output = join(installed, 'dist', 'client')
  const args = [tsc, '--project', join(PROJECT, 'client'), '--outDir', output]
  await run(process.execPath, args).catch(async (error: { stdout: string }) => {
    await rm(folder, { recursive: true })
    throw new Error(error.stdout)
  })
  return folder
}
