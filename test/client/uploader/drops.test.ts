import { join } from 'node:path'
import { setImmediate as afterPromises } from 'node:timers/promises'
import { expect } from 'chai'
import { PROJECT } from '../../support/service.ts'

const ZONE = join(PROJECT, 'client', 'uploader', 'element', 'zone.ts')

describe('drops on the uploader', () => {
  after(() => Reflect.deleteProperty(globalThis, 'document'))

  /** What is added by a drop that is read after the function that ends drops was called, or without that. */
  async function addedBy({ isEnded }: { isEnded: boolean }): Promise<string[]> {
    // Its types need those of pages.
    const { acceptDrops } = await import(ZONE)
    Object.assign(globalThis, { document: new EventTarget() })
    const target = new EventTarget()
    const added: string[] = []
    const end = acceptDrops(target, {
      zone: { setOver() {} },
      box: { classList: { toggle() {} } },
      isDisabled: () => false,
      add: (files: Array<{ file: File }>) => added.push(...files.map(({ file }) => file.name)),
      onUnreadable() {},
    })
    const dataTransfer = { types: ['Files'], items: [], files: [new File(['a'], 'a')] }
    target.dispatchEvent(Object.assign(new Event('drop'), { dataTransfer }))
    if (isEnded) end()
    await afterPromises()
    return added
  }

  it('are added, unless the element is removed while they are read', async () => {
    expect(await addedBy({ isEnded: false })).to.deep.equal(['a'])
    expect(await addedBy({ isEnded: true })).to.deep.equal([])
  })
})
