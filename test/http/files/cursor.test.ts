import { expect } from 'chai'
import fc from 'fast-check'
import { type CursorPlace, cursorOf, positionOf } from '../../../src/http/files/cursor.ts'
import { holds } from '../../contracts/property.ts'
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

  const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))
  // Few, so that the parts of two places are often equal, or the same when they are joined.
  const part = fc.constantFrom('', '/', '//', 'a')
  const places: fc.Arbitrary<CursorPlace> = fc.record({
    client: part.map((id) => ({ id }) as CursorPlace['client']),
    folder: part,
    sort: part,
    key: fc.oneof({ weight: 4, arbitrary: fc.constant(Buffer.alloc(32)) }, key),
  })
  const isSamePlace = (one: CursorPlace, other: CursorPlace) =>
    one.client.id === other.client.id &&
    one.folder === other.folder &&
    one.sort === other.sort &&
    one.key.equals(other.key)

  it('has its position in its own list, and in no other', () =>
    holds(
      fc.property(fc.string({ unit: 'binary' }), places, places, (position, place, other) => {
        const cursor = cursorOf(position, place) ?? ''
        expect(cursor).to.match(/^[\w.-]+$/)
        expect(positionOf(cursor, place)).to.equal(position)
        if (!isSamePlace(place, other)) expect(() => positionOf(cursor, other)).to.throw('cursor')
      }),
    ))
})
