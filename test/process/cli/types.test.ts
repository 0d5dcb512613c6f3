import { expect } from 'chai'
import { Command } from 'commander'
import { commandLine } from '../../../src/process/cli/command-line.ts'
import { addTypesCommand, augmentation } from '../../../src/process/cli/types-command.ts'
import { onOneBackend } from '../../support/backends.ts'
import { pluginFolder, recolouring } from '../../support/drop-ins.ts'

onOneBackend('sluice types', (start) => {
  /** The output of the command with these arguments. */
  async function output(...args: string[]): Promise<string> {
    let text = ''
    const sluice = new Command()
    addTypesCommand(sluice, (more) => {
      text += more
    })
    await sluice.parseAsync(['node', 'sluice', 'types', ...args])
    return text
  }

  it("prints the parameters of an installation's own plugins, and no others", async () => {
    const PLUGINS_DIR = await pluginFolder({
      'blood.js': recolouring('blood', 'blood', '[120, 0, 0]'),
      'odd.js': recolouring('odd', 'odd_name', '[1, 1, 1]').replace('One colour', 'Ends */ here'),
    })
    const { url } = await start({ env: { PLUGINS_DIR } })
    const text = await output(`${url}/`)
    expect(text).to.include(`
declare module 'sluice/client' {
  interface TransformParameters {
    /**
     * image: One colour. Takes no value, 1 or 0.
     */
    blood?: boolean | undefined
    /**
     * image: Ends * / here. Takes no value, 1 or 0.
     */
    odd_name?: boolean | undefined
  }
}
`)
    expect(text).not.to.match(/\bw\?:/)
  })

  it('prints a plugin that was added to the plugins of a clone', async () => {
    const none = { image: [], video: [], audio: [], text: [], application: [] }
    const flag = {
      plugin: 'image-resize',
      aliases: [],
      type: 'flag',
      expected: 'no value',
      help: 'A flag.',
    } as const
    const text = augmentation({
      ...none,
      image: [
        { ...flag, name: 'w' },
        { ...flag, name: 'duotone' },
      ],
    })
    expect(text)
      .to.match(/^ {4}duotone\?: boolean/m)
      .and.not.match(/\bw\?:/)
    expect(augmentation(none)).to.equal('// This server has no plugins of its own.\nexport {}\n')
  })

  it('is a command, and fails for an address that is no server', async () => {
    const { url, stop } = await start()
    await stop()
    const nothing = async () => {}
    const silent = () => {}
    const actions = {
      perform: nothing,
      become: nothing,
      diagnose: nothing,
      newPlugin: nothing,
      init: nothing,
      upgrade: nothing,
      write: silent,
      writeError: silent,
    }
    const names = commandLine({ ...actions, storageSecret: undefined }).commands.map((one) => one.name())
    expect(names).to.include('types')
    const { write } = process.stderr
    let printed = ''
    process.stderr.write = (text) => {
      printed += text
      return true
    }
    try {
      for (const wrong of [url, 'no url']) {
        expect(await output(wrong)).to.equal('')
        expect(process.exitCode).to.equal(1)
        process.exitCode = 0
      }
    } finally {
      process.stderr.write = write
      process.exitCode = undefined
    }
    expect(printed).to.match(/^sluice: http.*returned no response instead of parameters/)
  })
})
