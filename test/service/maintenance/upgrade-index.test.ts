import { expect } from 'chai'
import type { Storage } from '../../../src/app.ts'
import { createUpgradeIndex } from '../../../src/service/maintenance/upgrade-index.ts'
import { rejection } from '../../support/rejection.ts'
import { startService } from '../../support/service.ts'

describe('the conversion of the index of an older version', () => {
  it('looks at all clients once, also after a failure, and then only at what the index notices', async () => {
    const { signal } = new AbortController()
    const calls: Array<readonly string[]> = []
    const upgrade = createUpgradeIndex({
      index: {
        async upgrade(_signal, clientIds) {
          calls.push(clientIds)
          if (calls.length === 1) throw new Error('Redis is down')
        },
      },
      clients: { list: () => ['a', 'b'].map((id) => ({ id })) as never },
    })
    expect(await rejection(upgrade(signal))).to.include({ message: 'Redis is down' })
    for (const _ of [1, 2]) await upgrade(signal)
    expect(calls).to.deep.equal([['a', 'b'], ['a', 'b'], []])
  })

  it('begins with the start of a service, for its clients', async function () {
    this.timeout(30_000)
    let began: (clientIds: readonly string[]) => void = () => {}
    const clients = new Promise<readonly string[]>((resolve) => {
      began = resolve
    })
    const service = await startService({
      wrapStorage: ({ index, ...others }: Storage) => ({
        ...others,
        index: { ...index, upgrade: async (_signal, clientIds) => began(clientIds) },
      }),
    })
    await clients.finally(() => service.stop())
    expect(await clients).to.deep.equal(['first'])
  })
})
