import { execFile } from 'node:child_process'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { writePlugin } from '../../../src/process/cli/plugin-template.ts'
import { rejection } from '../../support/rejection.ts'
import { PROJECT } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

describe('a new plugin', () => {
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  itLong('in a clone is formatted as the project, has types, and passes its test', async function () {
    this.timeout(120_000)
    // A clone: the sources, without the plugins of the project.
    for (const name of ['src', 'config', 'node_modules', 'package.json', '.mocharc.json', 'tsconfig.json'])
      await symlink(join(PROJECT, name), join(folder, name))
    await mkdir(join(folder, 'plugins'))
    const { plugin, test } = await writePlugin('duo-tone', { clone: folder })
    expect([plugin, test]).to.deep.equal([
      join(folder, 'plugins/image/duo-tone.ts'),
      join(folder, 'test/plugins/duo-tone.test.ts'),
    ])
    const bin = join(PROJECT, 'node_modules', '.bin')
    const config = ['--config-path', join(PROJECT, 'biome.json'), '--vcs-enabled=false']
    await run(join(PROJECT, 'test/node_modules/.bin/biome'), ['format', ...config, plugin, test], {
      cwd: folder,
    })
    const { stdout } = await run(join(bin, 'mocha'), [test], { cwd: folder })
    expect(stdout).to.include('2 passing')
  })

  it('never replaces a file, and has a valid name', async () => {
    await writePlugin('duo', { folder })
    const message = async (name: string) =>
      ((await rejection(writePlugin(name, { folder }))) as Error).message
    expect(await message('duo')).to.include('exists already')
    for (const name of ['', 'Duo', '2', 'a_b', 'a-', '../a', 'a'.repeat(41)])
      expect(await message(name), name).to.include('expected a name of a-z')
  })

  it('has no name of a plugin that the clone has in a subfolder', async () => {
    const file = join(folder, 'plugins/image/colours/duo.ts')
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '')
    const error = (await rejection(writePlugin('duo', { clone: folder }))) as Error
    expect(error.message).to.equal(`${file} exists already`)
  })
})
