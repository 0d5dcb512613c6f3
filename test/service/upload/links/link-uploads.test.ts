import { expect } from 'chai'
import { embeddedLedger } from '../../../../src/adapters/ledger/embedded.ts'
import type { Client } from '../../../../src/core/clients/client.ts'
import type { Ledger } from '../../../../src/core/ports/ledger.ts'
import type { SignedLink } from '../../../../src/core/signing/upload-link.ts'
import { type BegunUpload, createLinkUploads } from '../../../../src/service/upload/links/link-uploads.ts'
import { rejection } from '../../../support/rejection.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

describe('resumable uploads by one signed link', () => {
  const client: Client = { id: 'first', token: '', secrets: [], createdAt: 0 }
  const linkOf = (id: string): SignedLink => ({
    id,
    clientId: 'first',
    folder: '',
    uses: 100,
    issuedAt: Math.floor(Date.now() / 1000),
    expiresInSeconds: 600,
  })
  let ledger: Ledger & { close(): Promise<void> }
  before(async () => {
    ledger = await embeddedLedger(await temporaryFolder())
  })
  after(() => ledger.close())
  const withLeft = (left: number) => createLinkUploads({ ledger, uses: { check: async () => left } })
  const isUnderWay = async () => true

  it('are no more than the remaining uses, however many begin at the same moment', async () => {
    const uploads = withLeft(3)
    const link = linkOf('one')
    const begun = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => uploads.begin(client, link, { id: `${i}`, isUnderWay })),
    )
    expect(begun.filter(({ status }) => status === 'fulfilled')).to.have.lengthOf(3)
    for (const one of begun)
      if (one.status === 'rejected') expect(one.reason).to.include({ status: 409, code: 'link_busy' })
  })

  it('release their use when they end, when they are found to have ended, or for another link', async () => {
    const uploads = withLeft(2)
    const link = linkOf('two')
    for (const id of ['a', 'b']) await uploads.begin(client, link, { id, isUnderWay })
    expect(await rejection(uploads.begin(client, link, { id: 'c', isUnderWay }))).to.include({ status: 409 })
    await uploads.end(client, link, 'a')
    await uploads.begin(client, link, { id: 'c', isUnderWay })
    const asked: string[] = []
    const isNotB = async ({ id }: BegunUpload) => asked.push(id) > 0 && id !== 'b'
    await uploads.begin(client, link, { id: 'd', isUnderWay: isNotB })
    expect(asked).to.deep.equal(['b', 'c'])
    expect(await rejection(uploads.begin(client, link, { id: 'e', isUnderWay }))).to.include({ status: 409 })
    await uploads.begin(client, linkOf('another'), { id: 'e', isUnderWay })
  })

  it('as parts do not count, but have no more bytes than its files, and are no more than a hundred for each', async () => {
    const uploads = withLeft(1)
    const link = linkOf('parts')
    const part = (bytes: number) => ({ bytes, maxBytes: 1000 })
    for (const id of ['a', 'b']) await uploads.begin(client, link, { id, isUnderWay, part: part(500) })
    expect(await rejection(uploads.begin(client, link, { id: 'c', isUnderWay, part: part(1) }))).to.include({
      code: 'link_busy',
    })
    await uploads.begin(client, link, { id: 'file', isUnderWay })
    const empty = linkOf('empty parts')
    for (let i = 0; i < 100; i += 1)
      await uploads.begin(client, empty, { id: `${i}`, isUnderWay, part: part(0) })
    expect(
      await rejection(uploads.begin(client, empty, { id: 'more', isUnderWay, part: part(0) })),
    ).to.include({
      code: 'link_busy',
    })
  })

  it('are fewer when uses are consumed', async () => {
    const link = linkOf('three')
    for (const id of ['a', 'b']) await withLeft(3).begin(client, link, { id, isUnderWay })
    const late = withLeft(2).begin(client, link, { id: 'c', isUnderWay })
    expect(await rejection(late)).to.include({ status: 409, code: 'link_busy' })
  })
})
