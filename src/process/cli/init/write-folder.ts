import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const PRIVATE = 0o600
const READABLE = 0o644

/**
 * Throws unless a folder of this path can be created, or is empty.
 *
 * @throws Error for a file, a symbolic link, or a folder with content
 */
export async function expectEmpty(folder: string): Promise<void> {
  const found = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!found) return
  const other = found.isSymbolicLink() ? 'a symbolic link' : found.isDirectory() ? undefined : 'a file'
  if (other) throw new Error(`${folder} is ${other}. Choose a new or an empty folder`)
  const [first] = await readdir(folder)
  if (first !== undefined)
    throw new Error(
      `${folder} is not empty: it has ${JSON.stringify(first)}. Choose a new or an empty folder`,
    )
}

/**
 * Writes files into a new or an empty folder. Only the owner may read `.env`. An existing file is never replaced, and a failure
 * removes what was written.
 *
 * @param files by their paths in the folder
 * @param packageRoot of a package that is packed into the folder too
 * @throws Error as {@link expectEmpty}, and for a file that was created in the meantime
 */
export async function writeFolder(
  folder: string,
  { files, packageRoot }: { files: ReadonlyMap<string, string>; packageRoot?: string | undefined },
): Promise<void> {
  await expectEmpty(folder)
  const isNew = (await mkdir(folder, { recursive: true })) !== undefined
  const written: string[] = []
  try {
    for (const [path, text] of files) {
      const file = join(folder, path)
      await mkdir(dirname(file), { recursive: true })
      const mode = path === '.env' ? PRIVATE : READABLE
      const handle = await open(file, 'wx', mode)
      written.push(path)
      await finish(handle, { text, mode })
    }
    if (packageRoot) {
      const name = await pack(packageRoot, folder)
      written.push(name)
      const handle = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW)
      await finish(handle, { mode: READABLE })
    }
  } catch (error) {
    await removeWritten(folder, { written, isNew })
    throw error
  }
}

/** Writes the text, sets the mode and closes the file. All by its handle: its path may lead to another file in the meantime. */
async function finish(handle: FileHandle, { text, mode }: { text?: string; mode: number }): Promise<void> {
  try {
    if (text !== undefined) await handle.writeFile(text)
    // The umask of the command is that of private files, and other users read the files of a platform: the builder, systemd.
    await handle.chmod(mode)
  } finally {
    await handle.close()
  }
}

/** `npm pack`. @returns the name of the file */
async function pack(root: string, folder: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { cwd: root })
  const [packed] = JSON.parse(stdout) as [{ filename: string }]
  return packed.filename
}

async function removeWritten(
  folder: string,
  { written, isNew }: { written: readonly string[]; isNew: boolean },
): Promise<void> {
  const remove = (path: string) => rm(path, { recursive: true, force: true }).catch(() => {})
  if (isNew) await remove(folder)
  else for (const path of written) await remove(join(folder, path.split('/', 1)[0] as string))
}
