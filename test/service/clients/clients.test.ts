import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { bucketClientStore } from '../../../src/adapters/client-store/bucket.ts'
import { inProcessEventBus } from '../../../src/adapters/event-bus/in-process.ts'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import { FIRST_CLIENT_ID } from '../../../src/core/clients/client.ts'
import type { ClientStorage } from '../../../src/core/clients/client-storage.ts'
import { createRecovery } from '../../../src/core/clients/recovery.ts'
import type { ClientStore } from '../../../src/core/ports/client-store.ts'
import { Problem } from '../../../src/core/problem.ts'
import { appKeys } from '../../../src/core/signing/derive-key.ts'
import { type Clients, createClients, type Tokens } from '../../../src/service/clients/clients.ts'
import { createUrlKeys } from '../../../src/service/clients/url-keys.ts'
import { rejection } from '../../support/rejection.ts'
import { recordLog } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const HOUR = 3_600_000
/** Of rules that are set here. */
const bounds = { uploadMaxBytes: 1000, wrongPresets: () => [] }
const keys = appKeys('the app secret of these tests')
const urlKeys = createUrlKeys(keys)
const recovery = createRecovery(keys)
const FIRST = { clientToken: 'pub_of_the_first', secretClientToken: 'sec_of_the_first_one' }

describe('clients', () => {
  let folder: string
  let store: ClientStore
  let clients: Clients
  /** What has been kept for the next start. */
  let stored: Tokens | undefined
  let changed: string[]
  const clock = { now: 0 }
  const now = () => clock.now
  const events = inProcessEventBus(recordLog())

  beforeEach(async () => {
    folder = await temporaryFolder()
    clock.now = 1_800_000_000_000
    const buckets = await diskBuckets({ folder, urlOf: (key) => key })
    store = await bucketClientStore(buckets.of({ id: FIRST_CLIENT_ID, token: '' }), { now })
    stored = undefined
    changed = []
    clients = createClients({
      urlKeys,
      recovery,
      store,
      events: { ...events, emit: (_name, { clientId }) => void changed.push(clientId) },
      keepFirst: async (tokens) => {
        stored = tokens
      },
      bounds,
      now,
    })
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** Whether a secret is accepted. */
  function accepts(secret: string): boolean {
    try {
      clients.authenticate(secret, 'read')
      return true
    } catch {
      return false
    }
  }

  async function problemOf(outcome: Promise<unknown>): Promise<Problem> {
    const error = await rejection(outcome)
    expect(error).to.be.instanceOf(Problem)
    return error as Problem
  }

  it('are found by a secret of the minimum length and longer ones', async () => {
    await clients.ensureFirst({ clientToken: 'pub_of_the_first', secretClientToken: 'sixteen/letters!' })
    expect(clients.isSecret('sixteen/letters!')).to.equal(true)
    for (const text of ['', 'sixteen/letters', 'pub_of_the_first', '%', 'sixteen/letters!!'])
      expect(clients.isSecret(text), text).to.equal(false)
  })

  it('have a name when it is set', async () => {
    const { client } = await clients.create({ name: 'Shop № 1' })
    expect(store.find(client.id)?.name).to.equal('Shop № 1')
    expect((await clients.create()).client).to.not.have.property('name')
  })

  for (const name of [
    '',
    ' shop',
    'shop ',
    'a\nb',
    'a\u001b[31m',
    'a\u202eb',
    'a\u2066b',
    'a\u200fb',
    'ä'.repeat(51),
  ]) {
    it(`cannot have the name ${JSON.stringify(name.slice(0, 20))}`, async () => {
      expect(await problemOf(clients.create({ name }))).to.include({ status: 400, code: 'bad_parameter' })
      expect(store.list()).to.deep.equal([])
    })
  }

  describe('have rules', () => {
    let id: string
    beforeEach(async () => {
      id = (await clients.create({ name: 'shop' })).client.id
      changed = []
    })

    it('that are set and removed one by one', async () => {
      const before = store.find(id)
      for (const [change, rules] of [
        [{ presetsOnly: true }, { presetsOnly: true }],
        [{ variantLimit: 5 }, { presetsOnly: true, variantLimit: 5 }],
        [
          { allowedWidths: [640, 320, 640] },
          { presetsOnly: true, allowedWidths: [320, 640], variantLimit: 5 },
        ],
        [{ presetsOnly: false }, { allowedWidths: [320, 640], variantLimit: 5 }],
        [{ allowedWidths: false, variantLimit: 6 }, { variantLimit: 6 }],
        [{ presetsOnly: true }, { presetsOnly: true, variantLimit: 6 }],
        [{ presetsOnly: false, variantLimit: false }, undefined],
        [{ fetchHosts: [] }, { fetchHosts: [] }],
        [{ fetchHosts: ['a.test', '*.b.test'] }, { fetchHosts: ['a.test', '*.b.test'] }],
        [
          { fetchHosts: 'any', fetchDenyHosts: ['c.test'] },
          { fetchHosts: 'any', fetchDenyHosts: ['c.test'] },
        ],
        [{ fetchHosts: false }, { fetchDenyHosts: ['c.test'] }],
        [{ fetchDenyHosts: [] }, undefined],
      ] as const) {
        const client = await clients.setRules(id, change)
        expect(client).to.deep.equal({ ...before, ...(rules ? { rules } : {}) })
        expect(store.find(id)).to.deep.equal(client)
      }
      expect(changed).to.deep.equal(Array(12).fill(id))
    })

    it('with rates that change one by one, and presets that are replaced together', async () => {
      for (const [change, rules] of [
        [{ rates: { zip: 5 } }, { rates: { zip: 5 } }],
        [{ rates: { upload: 0 } }, { rates: { zip: 5, upload: 0 } }],
        [
          { presets: { a: { w: 1 }, b: { w: 2 } } },
          { rates: { zip: 5, upload: 0 }, presets: { a: { w: 1 }, b: { w: 2 } } },
        ],
        [
          { rates: { zip: false }, presets: { b: { w: 3 } } },
          { rates: { upload: 0 }, presets: { b: { w: 3 } } },
        ],
        [
          { uploadMaxBytes: 1000, rates: { upload: false } },
          { uploadMaxBytes: 1000, presets: { b: { w: 3 } } },
        ],
        [{ uploadMaxBytes: false, presets: {} }, undefined],
        [{ rates: { zip: 5 } }, { rates: { zip: 5 } }],
        [{ rates: false }, undefined],
      ] as const) {
        expect((await clients.setRules(id, change)).rules, JSON.stringify(change)).to.deep.equal(rules)
        expect(store.find(id)?.rules).to.deep.equal(rules)
      }
    })

    it('that remain after a rotation, and after a restart', async () => {
      await clients.ensureFirst(FIRST)
      for (const each of [id, FIRST_CLIENT_ID]) {
        await clients.setRules(each, { variantLimit: 5 })
        await clients.rotate(each, { keepOldMs: 0 })
      }
      await clients.ensureFirst(FIRST)
      for (const each of [id, FIRST_CLIENT_ID])
        expect(store.find(each)?.rules).to.deep.equal({ variantLimit: 5 })
    })

    for (const [param, change] of [
      ['allowedWidths', { allowedWidths: [] }],
      ['allowedWidths', { allowedWidths: [0, 5] }],
      ['allowedWidths', { allowedWidths: [5, 5001] }],
      ['allowedWidths', { allowedWidths: [1.5] }],
      ['allowedWidths', { allowedWidths: Array.from({ length: 101 }, (_, i) => i + 1) }],
      ['variantLimit', { variantLimit: 0 }],
      ['variantLimit', { variantLimit: 1_000_001 }],
      ['variantLimit', { variantLimit: Number.NaN }],
      ['fetchHosts', { fetchHosts: [''] }],
      ['fetchHosts', { fetchHosts: ['http://a.test'] }],
      ['fetchHosts', { fetchHosts: ['a.test', 'b.*'] }],
      ['fetchHosts', { fetchHosts: Array(101).fill('a.test') }],
      ['fetchDenyHosts', { fetchDenyHosts: ['a b'] }],
      ['uploadMaxBytes', { uploadMaxBytes: 0 }],
      ['uploadMaxBytes', { uploadMaxBytes: 1001 }],
      ['rates', { rates: { sign_in: 5 } }],
      ['rates', { rates: { zap: 5 } }],
      ['rates.zip', { rates: { zip: -1 } }],
      ['rates.zip', { rates: { zip: 1_000_001 } }],
      ['presets', { presets: { 'a b': { w: 1 } } }],
      ['presets', { presets: { ok: { wm: 'x'.repeat(2001) } } }],
    ] as const) {
      it(`but reject ${JSON.stringify(change).slice(0, 40)}`, async () => {
        const problem = await problemOf(clients.setRules(id, { presetsOnly: true, ...change }))
        const code = param === 'presets' ? 'bad_presets' : 'bad_parameter'
        expect(problem).to.include({ status: 400, code })
        expect(problem.members.param).to.equal(param)
        expect(store.find(id)).to.not.have.property('rules')
      })
    }

    it('up to their bounds', async () => {
      const allowedWidths = [...Array.from({ length: 99 }, (_, i) => i + 1), 5000]
      const rates = { zip: 1_000_000, cpu: 1_000_000_000 }
      await clients.setRules(id, { allowedWidths, variantLimit: 1_000_000, rates })
      expect(store.find(id)?.rules).to.deep.equal({ allowedWidths, variantLimit: 1_000_000, rates })
    })

    it('only while they are not being removed', async () => {
      const unknown = await problemOf(clients.setRules('nobody', { presetsOnly: true }))
      expect(unknown).to.include({ status: 404, code: 'client_not_found' })
      await store.change(id, (present) => present && { ...present, removing: { files: false } })
      expect(await problemOf(clients.setRules(id, { presetsOnly: true }))).to.have.property('status', 409)
    })
  })

  describe('that another process may have removed', () => {
    const TRUST_MS = 5000
    let version: () => string
    let elsewhere: ClientStore
    let here: Clients

    beforeEach(async () => {
      let count = 0
      version = () => `v${count}`
      const announce = async () => {
        count += 1
      }
      const shared = { changes: { announce, version: async () => version() }, locks: inProcessLocks() }
      const bucket = (await diskBuckets({ folder, urlOf: (key) => key })).of({ id: 'first', token: '' })
      elsewhere = await bucketClientStore(bucket, { shared, now })
      const heard = await bucketClientStore(bucket, { shared, now })
      here = createClients({ urlKeys, recovery, store: heard, events, bounds, trustMs: TRUST_MS, now })
    })

    it('may store files for the time that a removal waits, and after that only after a refresh', async () => {
      const { client } = await here.create()
      await elsewhere.save({ ...client, removing: { files: true } })
      clock.now += TRUST_MS - 1
      expect(await here.admits(client)).to.equal(true)
      clock.now += 1
      expect(await here.admits(client)).to.equal(false)
    })

    it('may not store files while their root changes, nor in the former root', async () => {
      const { client, tokens } = await here.create()
      const storage = {
        endpoint: 'http://a',
        region: 'r',
        bucket: 'b',
        prefix: '',
        forcePathStyle: true,
        accessKeyId: 'k',
        sealedSecret: 's',
        address: 'http://a/b',
      } satisfies ClientStorage
      await elsewhere.save({ ...client, pausedUntil: clock.now + 60_000 })
      clock.now += TRUST_MS
      const moving = await problemOf(here.admits(client))
      expect(moving).to.include({ status: 503, code: 'unavailable' })
      expect(() => here.authenticate(tokens.secretClientToken, 'read')).to.throw(moving.message)
      expect(() => here.ofToken(tokens.clientToken)).to.throw(moving.message)
      // The process that was to end the pause has died.
      clock.now += 60_000 - TRUST_MS
      here.authenticate(tokens.secretClientToken, 'read')
      expect(await here.admits(client)).to.equal(true)

      await elsewhere.save({ ...client, storage })
      clock.now += TRUST_MS
      expect(await problemOf(here.admits(client))).to.have.property('status', 503)
      expect(await here.admits({ ...client, storage: { ...storage, accessKeyId: 'another' } })).to.equal(true)
    })

    it('may not store files while changes are unknown for too long: 503', async () => {
      const { client } = await here.create()
      const heard = version
      version = () => {
        throw new Error('Redis is away')
      }
      clock.now += TRUST_MS
      expect(await problemOf(here.admits(client))).to.have.property('status', 503)
      version = heard
      expect(await here.admits(client)).to.equal(true)
    })
  })

  describe('after a rotation', () => {
    it('have two secrets for a time, then the new one', async () => {
      const { client, tokens: old } = await clients.create({ name: 'shop' })
      const { tokens } = await clients.rotate(client.id, { keepOldMs: 2 * HOUR })
      expect(tokens.clientToken).to.equal(old.clientToken)
      expect(store.find(client.id)).to.include({ name: 'shop', createdAt: client.createdAt })
      clock.now += 2 * HOUR - 1
      expect([old, tokens].map(({ secretClientToken }) => accepts(secretClientToken))).to.deep.equal([
        true,
        true,
      ])
      clock.now += 1
      expect([old, tokens].map(({ secretClientToken }) => accepts(secretClientToken))).to.deep.equal([
        false,
        true,
      ])
      expect(changed).to.deep.equal([client.id, client.id])
    })

    it('lose the old secret at once when its time is zero', async () => {
      const { client, tokens: old } = await clients.create()
      await clients.rotate(client.id, { keepOldMs: HOUR })
      const { tokens } = await clients.rotate(client.id, { keepOldMs: 0 })
      expect(accepts(old.secretClientToken)).to.equal(false)
      expect(store.find(client.id)?.secrets).to.have.length(1)
      expect(accepts(tokens.secretClientToken)).to.equal(true)
    })

    it('accept an old secret no longer than its first rotation allowed', async () => {
      const { client, tokens: oldest } = await clients.create()
      const { tokens: old } = await clients.rotate(client.id, { keepOldMs: HOUR })
      await clients.rotate(client.id, { keepOldMs: 5 * HOUR })
      expect(store.find(client.id)?.secrets.map(({ validUntil }) => validUntil)).to.deep.equal([
        undefined,
        clock.now + 5 * HOUR,
        clock.now + HOUR,
      ])
      clock.now += 2 * HOUR
      expect(accepts(oldest.secretClientToken)).to.equal(false)
      expect(accepts(old.secretClientToken)).to.equal(true)
      clock.now += 3 * HOUR
      await clients.rotate(client.id, { keepOldMs: HOUR })
      expect(store.find(client.id)?.secrets, 'without those that have ended').to.have.length(2)
    })

    it('have both secrets of two concurrent rotations', async () => {
      const { client } = await clients.create()
      const both = await Promise.all([1, 2].map(() => clients.rotate(client.id, { keepOldMs: HOUR })))
      expect(both.map(({ tokens }) => accepts(tokens.secretClientToken))).to.deep.equal([true, true])
    })

    it('remain in removal when that begins during the rotation', async () => {
      const { client } = await clients.create()
      const removing = { files: true }
      const outcomes = await Promise.allSettled([
        store.change(client.id, (present) => present && { ...present, removing }),
        clients.rotate(client.id, { keepOldMs: HOUR }),
      ])
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected'])
      expect(store.find(client.id)?.removing).to.deep.equal(removing)
    })

    it('must exist and must not be in removal', async () => {
      const { client } = await clients.create()
      await store.save({ ...client, removing: { files: true } })
      expect(await problemOf(clients.rotate(client.id, { keepOldMs: 0 }))).to.have.property('status', 409)
      expect(await problemOf(clients.rotate('nobody', { keepOldMs: 0 }))).to.include({
        status: 404,
        code: 'client_not_found',
      })
    })

    it("store the first client's secret for the next start, before the old one expires", async () => {
      await clients.ensureFirst(FIRST)
      const { tokens } = await clients.rotate(FIRST_CLIENT_ID, { keepOldMs: HOUR })
      expect(stored).to.deep.equal(tokens)
      expect(accepts(FIRST.secretClientToken)).to.equal(true)
      // As the next start does it.
      await clients.ensureFirst(tokens)
      expect(accepts(FIRST.secretClientToken), 'the start ends no rotation').to.equal(true)
    })

    it("are unchanged when the first client's secret cannot be stored for the next start", async () => {
      await clients.ensureFirst(FIRST)
      const failing = createClients({
        urlKeys,
        recovery,
        store,
        events,
        bounds,
        keepFirst: async () => {
          throw new Error('the disk is full')
        },
      })
      const before = store.find(FIRST_CLIENT_ID)
      expect(await rejection(failing.rotate(FIRST_CLIENT_ID, { keepOldMs: 0 }))).to.have.property(
        'message',
        'the disk is full',
      )
      expect(store.find(FIRST_CLIENT_ID)).to.deep.equal(before)
    })

    it("refuse to rotate the first client's secret when the environment sets it", async () => {
      const fromEnvironment = createClients({ urlKeys, recovery, store, events, bounds })
      await fromEnvironment.ensureFirst(FIRST)
      const problem = await problemOf(fromEnvironment.rotate(FIRST_CLIENT_ID, { keepOldMs: 0 }))
      expect(problem.status).to.equal(409)
      expect(problem.message).to.include('SECRET_CLIENT_TOKEN')
      expect(accepts(FIRST.secretClientToken)).to.equal(true)
    })
  })

  it("have the first client's secret in its record, sealed, also after a rotation and for another APP_SECRET", async () => {
    const sealed = () => store.find(FIRST_CLIENT_ID)?.recovery ?? ''
    await clients.ensureFirst(FIRST)
    expect(recovery.unseal(sealed())).to.equal(FIRST.secretClientToken)
    const { tokens } = await clients.rotate(FIRST_CLIENT_ID, { keepOldMs: HOUR })
    expect(recovery.unseal(sealed())).to.equal(tokens.secretClientToken)
    const other = createRecovery(appKeys('another app secret'))
    expect(other.unseal(sealed())).to.equal(undefined)
    await createClients({ urlKeys, recovery: other, store, events, bounds }).ensureFirst(tokens)
    expect(other.unseal(sealed())).to.equal(tokens.secretClientToken)
    expect(accepts(FIRST.secretClientToken), 'sealing it again ends no rotation').to.equal(true)
    const { client } = await clients.create()
    await clients.rotate(client.id, { keepOldMs: HOUR })
    expect(store.find(client.id), 'another client').to.not.have.property('recovery')
  })

  it("have the first client's tokens of the start, without expiry, and its name", async () => {
    await clients.ensureFirst(FIRST)
    await store.save({ ...(await clients.ensureFirst(FIRST)), name: 'main' })
    await clients.rotate(FIRST_CLIENT_ID, { keepOldMs: HOUR })
    await clients.ensureFirst(FIRST)
    clock.now += 2 * HOUR
    expect(accepts(FIRST.secretClientToken)).to.equal(true)
    expect(store.find(FIRST_CLIENT_ID)).to.include({ name: 'main', createdAt: 1_800_000_000_000 })
  })
})
