import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { printable } from '../output.ts'
import { type OwnPackage, ownPackage, tarballOf } from '../own-package.ts'
import { appName, filesOf } from './files.ts'
import { type Choices, kindOf, PLATFORM_NAMES } from './platforms.ts'
import { ask, DEFAULT_FOLDER, type Given, type Terminal } from './questions.ts'
import { commandsUnder } from './readme.ts'
import { missingIn } from './settings.ts'
import { expectEmpty, writeFolder } from './write-folder.ts'

/** Wrong usage. The message states what is accepted. */
export class WrongChoice extends Error {
  override name = 'WrongChoice'
}

export interface InitOptions {
  /** Requests the missing options. Undefined without a terminal. */
  terminal?: Terminal | undefined
  write(text: string): void
  /** Starts the server in this process: its working directory is the folder, its settings are those of `.env`. */
  startServer(folder: string): Promise<void>
  /** Default: the package of this process. */
  own?: OwnPackage
}

/**
 * Writes a folder with all files of an installation, and starts it when that was requested.
 *
 * @returns the exit code
 * @throws WrongChoice for options that exclude each other; Error when the folder is not empty, or cannot be written
 */
export async function init(given: Given, options: InitOptions): Promise<number> {
  const { terminal, write, startServer, own = ownPackage() } = options
  if (given.folder === '') throw new WrongChoice('expected a folder but received an empty text')
  if (given.folder !== undefined) await expectEmpty(resolve(given.folder))
  expectPossible(given)
  const { folder: path = DEFAULT_FOLDER, ...chosen } = terminal ? await ask(given, terminal) : given
  expectPossible(chosen)
  const platform = chosen.platform ?? PLATFORM_NAMES[0]
  const choices: Choices = {
    platform,
    storage: chosen.storage ?? kindOf(platform).storages[0],
    domain: chosen.domain,
  }
  if (!own.isPublished && !existsSync(join(own.root, 'dist/src/main.js')))
    throw new Error(`${own.root} is not built. Run npm run build there`)
  const folder = resolve(path)
  const { files, settings } = filesOf(choices, { own, app: appName(basename(folder)) })
  await writeFolder(folder, { files, packageRoot: own.isPublished ? undefined : own.root })

  const missing = missingIn(settings)
  const names = [...files.keys(), ...(own.isPublished ? [] : [tarballOf(own)])]
  const parts = [...new Set(names.map((name) => name.replace(/\/.*/, '/')))].sort()
  write(printable(`Written to ${folder}: ${parts.join(', ')}\n`))
  write('The secrets are in .env, which only you can read. Include it in every backup.\n')
  if (missing.length > 0) write(`\nReplace FILL_IN in .env: ${missing.join(', ')}\n`)
  if (!chosen.start) {
    write(`\nNext:\n\n${indented(nextCommands(folder, files))}\nREADME.md has all commands.\n`)
    return 0
  }
  write('\nREADME.md has all commands.\n')
  if (platform === 'compose') return composeUp(folder, write)
  await startServer(folder)
  return 0
}

function expectPossible({ platform = PLATFORM_NAMES[0], storage, start }: Given): void {
  const { storages, starts } = kindOf(platform)
  if (storage && !storages.includes(storage))
    throw new WrongChoice(
      `--storage ${storage} is impossible with ${platform}: its disks do not persist. Use --storage ${storages.join(' or ')}`,
    )
  if (!start || starts.includes(storage ?? storages[0])) return
  const others = starts.length > 0 ? `. It is possible with --storage ${starts.join(' or ')}` : ''
  throw new WrongChoice(
    `--start is impossible with ${platform}${storage ? ` and --storage ${storage}` : ''}: README.md of the folder has steps before it${others}`,
  )
}

/** @returns the exit code of docker, or 1 without it */
async function composeUp(folder: string, write: (text: string) => void): Promise<number> {
  const { status } = spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' })
  if (status !== 0) {
    write(
      'Docker with its plugin compose is not installed here. Install it, then run: docker compose up -d --build\n',
    )
    return 1
  }
  const child = spawn('docker', ['compose', 'up', '-d', '--build'], { cwd: folder, stdio: 'inherit' })
  return new Promise((done, reject) => {
    child.once('error', reject).once('exit', (code) => done(code ?? 1))
  })
}

function nextCommands(folder: string, files: ReadonlyMap<string, string>): string {
  const path = relative('', folder)
  const enter = path === '' ? '' : `cd ${quoted(path)}\n`
  return `${enter}${commandsUnder('Start', files.get('README.md') ?? '')[0]}\n`
}

/** A word of a shell. */
function quoted(text: string): string {
  if (/^[\w./-]+$/.test(text) && !text.startsWith('-')) return text
  return `-- '${printable(text).replaceAll("'", `'\\''`)}'`
}

const indented = (text: string) => text.replace(/^(?=.)/gm, '  ')
