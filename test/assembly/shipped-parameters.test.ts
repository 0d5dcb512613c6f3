import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { shippedParameters } from '../../src/assembly/shipped-parameters.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('The parameters in the API document of a build', () => {
  let root: string
  before(async () => {
    root = await temporaryFolder()
  })
  after(() => rm(root, { recursive: true }))

  it('ignore settings of plugins in PLUGINS_DIR, such as those of examples/plugins', async () => {
    await mkdir(join(root, 'config'))
    const chain = {
      order: ['image-blur', 'own-effect', 'image-resize'],
      disabled: ['own-text', 'image-negate'],
      options: { moderation: { secrets: { first: 'sec_1' } } },
    }
    await writeFile(join(root, 'config', 'chain.json'), JSON.stringify(chain))

    const { image } = await shippedParameters(root)

    const names = image.map(({ name }) => name)
    expect(names).to.include.members(['w', 'blur']).and.not.include('negate')
  })
})
