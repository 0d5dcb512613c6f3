import { expect } from 'chai'
import { type Client, digestSecret } from '../../../src/core/clients/client.ts'
import type { Ledger } from '../../../src/core/ports/ledger.ts'
import { fileNotFound, unavailable } from '../../../src/core/problem.ts'
import { createLinkSpace } from '../../../src/service/archive/link-space.ts'
import { createArchiveLinks } from '../../../src/service/archive/links.ts'
import { rejection } from '../../support/rejection.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const SECRET = digestSecret('one')

/** Texts in memory, which expire. */
function memoryLedger(now: () => number): Ledger {
  const texts = new Map<string, { text: string; forgetAt: number }>()
  const find = (name: string) => {
    const known = texts.get(name)
    return known && known.forgetAt > now() ? known.text : undefined
  }
  return {
    find: async (name) => find(name),
    async replace(name, before, after, { forgetAt }) {
      if (find(name) !== before) return false
      if (after === undefined) texts.delete(name)
      else texts.set(name, { text: after, forgetAt })
      return true
    },
  }
}

describe('links to archives', () => {
  let time = 0
  let client: Client | undefined
  let isMoving = false
  const now = () => time
  const files = { archiveName: 'a.zip', items: [] }
  const linksOf = () =>
    createArchiveLinks({
      ledger: memoryLedger(now),
      clients: {
        withId() {
          if (isMoving) throw unavailable('moving')
          if (!client) throw fileNotFound()
          return client
        },
      },
      now,
    })
  const grantOf = () => ({ client: client as Client, secretDigest: SECRET })
  const statusOf = async (work: Promise<unknown>) => ((await rejection(work)) as { status?: number }).status
  beforeEach(() => {
    time = 1_000_000
    isMoving = false
    client = { id: 'first', token: 'pub', createdAt: 0, secrets: [{ digest: SECRET }] }
  })

  it('expire after a day, or earlier with the secret', async () => {
    const links = linksOf()
    const { id, expiresAt } = await links.create(files, grantOf())
    expect(expiresAt).to.equal(time + DAY)
    const short = await links.create(files, { ...grantOf(), until: time + HOUR })
    expect(short.expiresAt).to.equal(time + HOUR)
    time += HOUR
    expect(await statusOf(links.open(short.id, 'a.zip'))).to.equal(404)
    expect(await links.open(id, 'a.zip')).to.deep.include({ client, items: [], archiveName: 'a.zip' })
    time += DAY - HOUR
    expect(await statusOf(links.open(id, 'a.zip'))).to.equal(404)
  })

  it('end when the secret is revoked or expires, or the client is removed', async () => {
    const links = linksOf()
    const { id } = await links.create(files, grantOf())
    const known = client as Client
    client = { ...known, secrets: [{ digest: digestSecret('another') }] }
    expect(await statusOf(links.open(id, 'a.zip'))).to.equal(404)
    client = { ...known, secrets: [{ digest: SECRET, validUntil: time }] }
    expect(await statusOf(links.open(id, 'a.zip'))).to.equal(404)
    client = undefined
    expect(await statusOf(links.open(id, 'a.zip'))).to.equal(404)
    client = known
    await links.open(id, 'a.zip')
  })

  it('of a member of the console end with the client only', async () => {
    const links = linksOf()
    const { id } = await links.create(files, { client: client as Client })
    client = { ...(client as Client), secrets: [] }
    await links.open(id, 'a.zip')
  })

  it('know whether they have delivered bytes of another archive', async () => {
    const links = linksOf()
    const { id } = await links.create(files, grantOf())
    const delivers = async (etag: string | undefined, of = id) =>
      (await links.open(of, 'a.zip')).delivers(etag)
    const several = await Promise.all(Array.from({ length: 16 }, () => delivers('one')))
    expect(several).to.deep.equal(Array(16).fill(true))
    expect([await delivers('two'), await delivers('one'), await delivers('two')]).to.deep.equal(
      Array(3).fill(false),
    )
    const other = await links.create({ ...files, etag: 'one' }, grantOf())
    expect([await delivers('one', other.id), await delivers(undefined, other.id)]).to.deep.equal([
      true,
      false,
    ])
    expect(await delivers('one', other.id)).to.equal(false)
  })

  it('wait while the files of the client move', async () => {
    const links = linksOf()
    const { id } = await links.create(files, grantOf())
    isMoving = true
    expect(await statusOf(links.open(id, 'a.zip'))).to.equal(503)
  })

  it('of one client have a limited space, which is free again after a day', async () => {
    const space = createLinkSpace({ ledger: memoryLedger(now), windowMs: DAY, now, maxBytes: 2400 })
    await Promise.all([space.take('a', 1000), space.take('a', 1000)])
    time += DAY - 5000
    const refused = await rejection(space.take('a', 1))
    expect(refused).to.deep.include({ status: 429, headers: { 'Retry-After': '5' } })
    await space.take('b', 2000)
    time += 5000
    await space.take('a', 2000)
  })
})
