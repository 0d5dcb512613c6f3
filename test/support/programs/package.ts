import { execFile } from 'node:child_process'
import { mkdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from '../service.ts'
import { sized } from '../sized.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const run = promisify(execFile)

/** An empty folder in which the package of this project is installed, as `npm install ./sluice-<version>.tgz` does. */
export interface Installed {
  folder: string
  /** The command `sluice`, as npm links it. */
  sluice: string
  remove(): Promise<void>
}

/** Installs the package of the project. Its dependencies are those of the project, so no registry is needed. */
export async function installPackage(): Promise<Installed> {
  const parent = await temporaryFolder()
  const folder = join(parent, 'empty')
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '.bin'), { recursive: true })
  await sized(copied, packed)(parent, join(modules, 'sluice'))
  await symlink(join(PROJECT, 'node_modules'), join(parent, 'node_modules'))
  const sluice = join(modules, '.bin', 'sluice')
  await symlink('../sluice/scripts/sluice.sh', sluice)
  return { folder, sluice, remove: () => rm(parent, { recursive: true, force: true }) }
}

/** As npm packs the project. */
async function packed(parent: string, target: string): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', parent], { cwd: PROJECT })
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  await run('tar', ['-xzf', join(parent, filename), '-C', parent])
  await rename(join(parent, 'package'), target)
}

/**
 * A copy of the files that package.json names: npm would compress 27 MB. `test/house/package-files.test.ts` has the list of npm itself.
 */
async function copied(parent: string, target: string): Promise<void> {
  const { files } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')) as { files: string[] }
  const isExcluded = (name: string) => name.startsWith('!')
  const excluded = files.filter(isExcluded).map((name) => `--exclude=${name.slice(1)}`)
  const archive = join(parent, 'package.tar')
  // The shell replaces patterns as config/*.json by the names of files.
  const included = ['package.json', ...files.filter((name) => !isExcluded(name))].join(' ')
  await run('sh', ['-c', `tar -cf "$0" "$@" ${included}`, archive, ...excluded], { cwd: PROJECT })
  await mkdir(target)
  await run('tar', ['-xf', archive, '-C', target])
}
