import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROJECT } from './service.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A folder of plugin files, by name. */
export async function pluginFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder()
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

/** A project folder as an operator has it: the configuration, and these files in `plugins/`. */
export async function projectFolder(plugins: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder()
  await cp(join(PROJECT, 'config', 'chain.json'), join(folder, 'config', 'chain.json'), { recursive: true })
  await mkdir(join(folder, 'plugins'))
  for (const [name, text] of Object.entries(plugins)) await writeFile(join(folder, 'plugins', name), text)
  return folder
}

/** A transform that needs no import: everything turns `colour`, given as `[red, green, blue]`. */
export function recolouring(name: string, parameter: string, colour: string): string {
  return `export default {
  name: '${name}',
  engine: 'sharp',
  phase: 'effect',
  params: { ${parameter}: { type: 'flag', help: 'One colour' } },
  transform: (image) => image.flatten().linear([0, 0, 0], ${colour}),
}
`
}

/** An event plugin that writes each received event to a file, one line each. */
export function recorder(file: string): string {
  return `import { appendFileSync } from 'node:fs'
const events = ['original.stored', 'original.deleted', 'original.trashed', 'original.restored', 'original.scanned', 'derivative.stored', 'derivative.failed', 'alias.changed', 'archive.sent', 'client.changed']
const write = (name) => (event) => appendFileSync(${JSON.stringify(file)}, JSON.stringify({ name, event }) + '\\n')
export default { name: 'recorder', on: Object.fromEntries(events.map((name) => [name, write(name)])) }
`
}

/** What a {@link recorder} has written so far. */
export async function recorded(
  file: string,
): Promise<Array<{ name: string; event: Record<string, unknown> }>> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/**
 * A transform that writes the id of its process to a file when it begins, as one line, and takes as long as `?slow=<ms>`
 * requests. In a process with STUCK in its environment it never ends.
 */
export function slow(file: string): string {
  return `import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
export default {
  name: 'slow',
  engine: 'sharp',
  phase: 'effect',
  params: { slow: { type: 'integer', min: 0, max: 20000, help: 'Milliseconds' } },
  async transform(image, { slow }, { signal }) {
    appendFileSync(${JSON.stringify(file)}, process.pid + '\\n')
    await pause(process.env.STUCK ? 100_000 : slow, undefined, { signal })
    return image
  },
}
`
}
