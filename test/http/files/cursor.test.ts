import { expect } from 'chai'
import { ask } from '../../support/requests/ask.ts'
import { newClient, uploadOne } from '../../support/requests/client.ts'
import { type Service, startService } from '../../support/service.ts'
import { listPart } from '../../support/stored/files.ts'

describe('the cursor of a list of files', () => {
  let service: Service | undefined
  afterEach(() => service?.stop())

  it('is refused with 400 when its position is one of another index', async () => {
    let isSame = true
    service = await startService({
      wrapStorage: (storage) => {
        const index = Object.create(storage.index, {
          isPosition: { value: () => isSame, enumerable: true },
        })
        return { ...storage, index }
      },
    })
    const client = await newClient(service)
    for (const name of ['a.txt', 'b.txt']) await uploadOne(client, { name, bytes: name })
    const { cursor } = await listPart(client, '?limit=1')
    expect((await listPart(client, `?limit=1&cursor=${cursor}`)).files).to.have.length(1)
    isSame = false
    expect(await ask(client, `/v1/files?cursor=${cursor}`)).to.include({ status: 400 })
  })
})
