import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { embeddedLedger } from '../../../src/adapters/ledger/embedded.ts'
import type { Grant } from '../../../src/core/clients/grant.ts'
import type { Ledger } from '../../../src/core/ports/ledger.ts'
import { type BegunRequest, createRepeatedRequests } from '../../../src/service/clients/repeated-requests.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('requests that are executed once', () => {
  const grant: Grant = { client: { id: 'first', token: '', secrets: [], createdAt: 0 } }
  const answer = { fingerprint: 'one', status: 201, json: { url: 'https://example.com' } }
  let clock = Date.now()
  let ledger: Ledger & { close(): Promise<void> }
  before(async () => {
    ledger = await embeddedLedger(await temporaryFolder(), { now: () => clock })
  })
  after(() => ledger.close())
  const processOf = () => createRepeatedRequests({ ledger, now: () => clock })
  const begin = async (key: string, of = grant) => (await processOf().begin(of, key)) as BegunRequest

  it('have one holder in all processes, and then one response for a day', async () => {
    const begun = await Promise.allSettled(Array.from({ length: 10 }, () => begin('key')))
    const [holder, ...others] = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(others).to.have.length(0)
    await holder?.finish(answer)
    expect(await processOf().begin(grant, 'key')).to.deep.equal({ answer })
    clock += 24 * 3_600_000
    const again = await begin('key')
    expect(again).to.respondTo('finish')
    await again.release()
  })

  it('are taken over when their process has died, whose response then counts no more', async () => {
    const dead = await begin('dead')
    clock += 19_999
    expect(await rejection(begin('dead'))).to.include({ status: 409, code: 'request_conflict' })
    clock += 1
    const second = await begin('dead')
    await dead.finish({ ...answer, fingerprint: 'dead' })
    expect(await rejection(begin('dead'))).to.include({ status: 409 })
    await second.finish(answer)
    expect(await processOf().begin(grant, 'dead')).to.deep.equal({ answer })
  })

  it('are executed again after a failure, and belong to a client and the folder of its secret', async () => {
    await (await begin('own')).release()
    await (await begin('own')).finish(answer)
    for (const other of [{ ...grant, folder: 'a' }, { client: { ...grant.client, id: 'second' } }])
      await (await begin('own', other)).release()
  })

  it('have no response that takes more than 64 KiB', async () => {
    await (await begin('large')).finish({ ...answer, json: randomBytes(60_000).toString('base64') })
    const error = await rejection(begin('large'))
    expect(error).to.include({ status: 409, code: 'request_conflict' })
    expect(error).not.to.have.nested.property('headers.Retry-After')
  })
})
