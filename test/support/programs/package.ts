import { execFile } from 'node:child_process'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from '../service.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const run = promisify(execFile)

/** An empty folder in which the package of this project is installed, as `npm install ./sluice-<version>.tgz` does. */
export interface Installed {
  folder: string
  /** The command `sluice`, as npm links it. */
  sluice: string
  remove(): Promise<void>
}

/** Packs the project and installs the package. Its dependencies are those of the project, so no registry is needed. */
export async function installPackage(): Promise<Installed> {
  const parent = await temporaryFolder()
  const folder = join(parent, 'empty')
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '.bin'), { recursive: true })
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', parent], { cwd: PROJECT })
  const [packed] = JSON.parse(stdout) as [{ filename: string }]
  await run('tar', ['-xzf', join(parent, packed.filename), '-C', modules])
  await rename(join(modules, 'package'), join(modules, 'sluice'))
  await symlink(join(PROJECT, 'node_modules'), join(parent, 'node_modules'))
  const sluice = join(modules, '.bin', 'sluice')
  await symlink('../sluice/scripts/sluice.sh', sluice)
  return { folder, sluice, remove: () => rm(parent, { recursive: true, force: true }) }
}
