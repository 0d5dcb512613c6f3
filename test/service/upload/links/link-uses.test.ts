import { expect } from 'chai'
import { embeddedLedger } from '../../../../src/adapters/ledger/embedded.ts'
import { redisLedger } from '../../../../src/adapters/ledger/redis.ts'
import { connectRedis } from '../../../../src/adapters/redis/connection.ts'
import type { Client } from '../../../../src/core/clients/client.ts'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import type { FileLookup } from '../../../../src/core/ports/file-index.ts'
import type { Ledger } from '../../../../src/core/ports/ledger.ts'
import type { SignedLink } from '../../../../src/core/signing/upload-link.ts'
import type { Removals } from '../../../../src/service/originals/delete.ts'
import { createLinkUses } from '../../../../src/service/upload/links/link-uses.ts'
import { rejection } from '../../../support/rejection.ts'
import { sharedRedis } from '../../../support/servers/redis-server.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const HOUR_MS = 3_600_000
const KEPT_MS = 70 * 24 * HOUR_MS
const KEY_PREFIX = '{link-uses-test}:'

async function onDisk() {
  const ledger = await embeddedLedger(await temporaryFolder())
  return { ledger, close: () => ledger.close() }
}

async function inRedis() {
  const redis = connectRedis({ url: (await sharedRedis()).url })
  await redis.ready()
  const close = async () => {
    await redis.client.del(await redis.client.keys(`${KEY_PREFIX}*`))
    await redis.close()
  }
  return { ledger: redisLedger(redis, { keyPrefix: KEY_PREFIX }), close }
}

for (const [name, open] of [['embedded', onDisk] as const, ['Redis', inRedis] as const])
  describe(`the uses of a link (${name})`, () => {
    const client: Client = { id: 'first', token: '', secrets: [], createdAt: 0 }
    let ledger: Ledger
    let close: () => Promise<void>
    before(async () => {
      ;({ ledger, close } = await open())
    })
    after(() => close())

    it('are counted for an upload that is complete more than a day after the end of the link', async () => {
      const link: SignedLink = {
        ...{ id: '1111111111111111111111', clientId: 'first', folder: '', uses: 1 },
        issuedAt: Math.floor((Date.now() - 26 * HOUR_MS) / 1000),
        expiresInSeconds: 3600,
      }
      const forgetAts: number[] = []
      const noted: Ledger = {
        find: (of) => ledger.find(of),
        replace(of, before, after, options) {
          forgetAts.push(options.forgetAt)
          return ledger.replace(of, before, after, options)
        },
      }
      const uses = createLinkUses({
        ledger: noted,
        index: { find: async () => ({}) } as unknown as FileLookup,
        removals: { async sweep() {} } as unknown as Removals,
        keptMs: KEPT_MS,
      })
      const use = await uses.reserve(client, link)
      await use.note(storedKey('image/png/7uLqEUXG4WpoGGa38h2U9Z.png'))
      await use.confirm()
      expect(use.signal.aborted).to.equal(false)
      expect(await rejection(uses.reserve(client, link))).to.have.property('code', 'link_busy')
      await use.finish()
      expect(await rejection(uses.reserve(client, link))).to.have.property('code', 'link_used')
      expect(await rejection(uses.check(client, link))).to.have.property('code', 'link_used')
      // Another upload that began before the end of the link finds the use until it has expired itself.
      expect(Math.min(...forgetAts)).to.be.above(Date.now() + KEPT_MS - HOUR_MS)
      const early = { ...link, id: '2222222222222222222222', expiresInSeconds: 27 * 3600 }
      const other = await uses.reserve(client, early)
      await other.release()
      expect(forgetAts.at(-1)).to.equal(1000 * (early.issuedAt + early.expiresInSeconds) + KEPT_MS)
    })
  })
