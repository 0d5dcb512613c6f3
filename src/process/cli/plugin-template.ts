import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Where a new plugin is written: into the sources of a clone, or into a folder of drop-in plugins. */
export type PluginPlace = { clone: string } | { folder: string }

/**
 * Writes an image plugin with one parameter, and its test.
 *
 * @param name of the parameter, of `a-z`, `0-9` and `-`
 * @returns the paths of the plugin and the test
 * @throws Error for an invalid name, or when a file exists
 */
export async function writePlugin(
  name: string,
  place: PluginPlace,
): Promise<{ plugin: string; test: string }> {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 40)
    throw new Error(`expected a name of a-z, 0-9 and "-", beginning with a letter, but received "${name}"`)
  const isClone = 'clone' in place
  const plugin = isClone
    ? join(place.clone, 'plugins', 'image', `${name}.ts`)
    : join(place.folder, `image-${name}.js`)
  const test = isClone
    ? join(place.clone, 'test', 'plugins', `${name}.test.ts`)
    : join(place.folder, `image-${name}.test.mjs`)
  const namesakes = isClone ? await filesNamed(`${name}.ts`, dirname(plugin)) : []
  for (const file of [plugin, test, ...namesakes])
    if (existsSync(file)) throw new Error(`${file} exists already`)
  const parameter = name.replaceAll('-', '_')
  for (const [file, text] of [
    [plugin, isClone ? typed(name, parameter) : plain(name, parameter)],
    [test, isClone ? mochaTest(name, parameter) : nodeTest(name, parameter)],
  ] as const) {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text, { flag: 'wx' })
  }
  if (!isClone) await markAsModules(place.folder)
  return { plugin, test }
}

/** The files of this name in a folder and its subfolders. */
async function filesNamed(name: string, folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true }).catch((): string[] => [])
  return files.filter((file) => basename(file) === name).map((file) => join(folder, file))
}

/** Makes Node read the files of a folder as modules, whatever the package.json above it states: npm init writes "commonjs". */
async function markAsModules(folder: string): Promise<void> {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) await writeFile(file, '{ "type": "module" }\n')
}

// From both folders of the files in a clone to its root.
const UP = '../..'

/** The members of the plugin: an effect with a strength. */
function members(name: string, parameter: string, transform: string): string {
  return `  name: 'image-${name}',
  api: 1,
  engine: 'sharp',
  phase: 'effect',
  // ?${parameter} means ?${parameter}=1.
  params: { ${parameter}: { type: 'number', min: 0, max: 1, bare: 1, help: 'Strength of the effect.' } },
  // Without effect, the derivative is the same as without the parameter.
  resolve: ({ ${parameter} }) => (${parameter} === 0 ? undefined : { ${parameter} }),
  ${transform}
`
}

function typed(name: string, parameter: string): string {
  const transform = `transform: (image, { ${parameter} = 1 }) => image.modulate({ saturation: 1 - ${parameter} }),`
  return `import { definePlugin } from '${UP}/src/core/plugin-api/plugin.ts'

/** Takes the colours away. Replace this by your own effect. */
export default definePlugin({
${members(name, parameter, transform)}})
`
}

function plain(name: string, parameter: string): string {
  // A type import only: the plugin also loads where the package sluice cannot be imported from its folder.
  const transform = `transform: (image, { ${parameter} }) => image.modulate({ saturation: 1 - ${parameter} }),`
  return `// Takes the colours away. Replace this by your own effect.
/** @type {import('sluice/plugin').TransformPlugin<any, 'sharp'>} */
export default {
${members(name, parameter, transform)}}
`
}

const PICTURE = `'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="red"/></svg>'`

function mochaTest(name: string, parameter: string): string {
  return `import { expect } from 'chai'
import plugin from '${UP}/plugins/image/${name}.ts'
import { render } from '${UP}/src/testing.ts'

const RED = Buffer.from(
  ${PICTURE},
)

describe('?${parameter}', () => {
  it('changes the image', async () => {
    const plain = await render(plugin, RED, 'f=png')
    const changed = await render(plugin, RED, '${parameter}&f=png')
    expect(changed.mediaType).to.equal('image/png')
    expect(changed.bytes.equals(plain.bytes)).to.equal(false)
  })

  it('has no effect without strength', async () => {
    const plain = await render(plugin, RED, 'f=png')
    expect(await render(plugin, RED, '${parameter}=0&f=png')).to.deep.equal(plain)
  })
})
`
}

function nodeTest(name: string, parameter: string): string {
  return `import assert from 'node:assert/strict'
import test from 'node:test'
import { render } from 'sluice/testing'
import plugin from './image-${name}.js'

const RED = Buffer.from(${PICTURE})

test('changes the image', async () => {
  const plain = await render(plugin, RED, 'f=png')
  const changed = await render(plugin, RED, '${parameter}&f=png')
  assert.equal(changed.mediaType, 'image/png')
  assert.notDeepEqual(changed.bytes, plain.bytes)
})

test('has no effect without strength', async () => {
  const plain = await render(plugin, RED, 'f=png')
  assert.deepEqual(await render(plugin, RED, '${parameter}=0&f=png'), plain)
})

test('refuses a strength above 1', async () => {
  await assert.rejects(render(plugin, RED, '${parameter}=2'), { status: 400 })
})
`
}
