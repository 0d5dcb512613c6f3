import { expect } from 'chai'
import {
  type Client,
  digestSecret,
  newClientId,
  newClientToken,
  newSecretToken,
} from '../../src/core/clients/client.ts'
import type { ClientStore } from '../../src/core/ports/client-store.ts'
import { rejection } from '../support/rejection.ts'
import { sized } from '../support/sized.ts'

export interface OpenedClientStore {
  /** Empty at first. */
  store: ClientStore
  /** A new store over the data of the first one. */
  reopen(): Promise<ClientStore>
  /** What both take for the time, in milliseconds since 1970. */
  clock: { now: number }
  close(): Promise<void>
}

/** What every {@link ClientStore} has to do, seen through the port alone. */
export function clientStoreContract(name: string, open: () => Promise<OpenedClientStore>): void {
  describe(`${name}: the contract of ClientStore`, () => {
    let opened: OpenedClientStore
    let store: ClientStore

    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })
    afterEach(() => opened.close())

    /** Runs the same check on this store and on one that is opened again. */
    async function both(check: (store: ClientStore) => void): Promise<void> {
      check(store)
      check(await opened.reopen())
    }

    it('knows no client at first', async () => {
      await both((one) => {
        expect(one.list()).to.deep.equal([])
        expect(one.find('')).to.equal(undefined)
        expect(one.findByToken('')).to.equal(undefined)
        expect(one.findBySecret('')).to.equal(undefined)
      })
    })

    it('finds a client by ID, token and secret, and by nothing else', async () => {
      const { client, secret } = newClient()
      await store.save(client)
      await both((one) => {
        expect(one.find(client.id)).to.deep.equal(client)
        expect(one.findByToken(client.token)).to.deep.equal(client)
        expect(one.findBySecret(secret)?.client).to.deep.equal(client)
        expect(one.list()).to.deep.equal([client])
        const wrong = ['', secret.slice(1), `${secret} `, secret.toLowerCase(), client.token, '__proto__']
        for (const each of [...wrong, client.secrets[0]?.digest ?? '', `${secret.slice(0, -1)}!`])
          expect(one.findBySecret(each), each).to.equal(undefined)
        for (const each of ['', client.id, secret, client.token.slice(0, -1), 'toString'])
          expect(one.findByToken(each), each).to.equal(undefined)
        for (const each of ['', client.token, secret, 'constructor'])
          expect(one.find(each), each).to.equal(undefined)
      })
    })

    it('stores any number of clients separately', async () => {
      const all = Array.from({ length: sized(40, 150) }, newClient)
      await Promise.all(all.map(({ client }) => store.save(client)))
      await both((one) => {
        expect(byId(one.list())).to.deep.equal(byId(all.map(({ client }) => client)))
        for (const { client, secret } of all) {
          expect(one.find(client.id)).to.deep.equal(client)
          expect(one.findByToken(client.token)).to.deep.equal(client)
          expect(one.findBySecret(secret)?.client).to.deep.equal(client)
        }
      })
    })

    it('accepts two secrets of a client during a rotation, and only the new one after it', async () => {
      const { client, secret: old } = newClient()
      const fresh = newSecretToken()
      await store.save(client)
      const rotating = { ...client, secrets: [...client.secrets, { digest: digestSecret(fresh) }] }
      await store.save(rotating)
      await both((one) => {
        expect(one.findBySecret(old)?.client).to.deep.equal(rotating)
        expect(one.findBySecret(fresh)?.client).to.deep.equal(rotating)
        expect(one.list()).to.have.length(1)
      })
      await store.save({ ...client, secrets: [{ digest: digestSecret(fresh) }] })
      await both((one) => {
        expect(one.findBySecret(old)).to.equal(undefined)
        expect(one.findBySecret(fresh)?.client.id).to.equal(client.id)
      })
    })

    it('accepts a secret until the instant at which it expires, exclusive', async () => {
      const { client, secret } = newClient()
      const until = opened.clock.now + 1000
      const ending = { ...client, secrets: client.secrets.map((one) => ({ ...one, validUntil: until })) }
      await store.save(ending)
      opened.clock.now = until - 1
      await both((one) => expect(one.findBySecret(secret)?.client).to.deep.equal(ending))
      opened.clock.now = until
      await both((one) => {
        expect(one.findBySecret(secret)).to.equal(undefined)
        expect(one.findByToken(client.token)).to.deep.equal(ending)
      })
    })

    it('stores the rules of a client, all of them and each separately', async () => {
      const { client } = newClient()
      const all = { presetsOnly: true, allowedWidths: [320, 640], variantLimit: 5 } as const
      const { presetsOnly, allowedWidths, variantLimit } = all
      for (const rules of [all, { presetsOnly }, { allowedWidths }, { variantLimit }]) {
        await store.save({ ...client, rules })
        await both((one) => expect(one.find(client.id)).to.deep.equal({ ...client, rules }))
      }
      await store.save(client)
      await both((one) => expect(one.find(client.id)).to.deep.equal(client))
    })

    it('finds a client that is being removed by its ID only', async () => {
      const { client, secret } = newClient()
      await store.save(client)
      const removing = { ...client, removing: { files: true } }
      await store.save(removing)
      await both((one) => {
        expect(one.findBySecret(secret)).to.equal(undefined)
        expect(one.findByToken(client.token)).to.equal(undefined)
        expect(one.find(client.id)).to.deep.equal(removing)
        expect(one.list()).to.deep.equal([removing])
      })
      const rival = { ...newClient().client, token: client.token }
      expect(await rejection(store.save(rival)), 'its token is still its own').to.be.instanceOf(Error)
    })

    it('forgets a removed client, also on retry, and no other client', async () => {
      const { client, secret } = newClient()
      const other = newClient()
      await store.save({ ...client, name: 'Müller & Söhne' })
      await store.save(other.client)
      expect(store.find(client.id)?.name).to.equal('Müller & Söhne')
      await store.remove(client.id)
      await store.remove(client.id)
      await both((one) => {
        expect(one.find(client.id)).to.equal(undefined)
        expect(one.findBySecret(secret)).to.equal(undefined)
        expect(one.findByToken(client.token)).to.equal(undefined)
        expect(one.list()).to.deep.equal([other.client])
        expect(one.findBySecret(other.secret)?.client).to.deep.equal(other.client)
      })
    })

    it('forgets the previous token of a client', async () => {
      const { client, secret } = newClient()
      await store.save(client)
      const changed = { ...client, token: newClientToken() }
      await store.save(changed)
      await both((one) => {
        expect(one.findByToken(client.token)).to.equal(undefined)
        expect(one.findByToken(changed.token)).to.deep.equal(changed)
        expect(one.findBySecret(secret)?.client).to.deep.equal(changed)
        expect(one.list()).to.deep.equal([changed])
      })
    })

    it('accepts a token and a secret that another client had before', async () => {
      const { client: first, secret } = newClient()
      await store.save(first)
      await store.save({ ...newClient().client, id: first.id })
      const second = { ...first, id: newClientId() }
      await store.save(second)
      await both((one) => {
        expect(one.findByToken(first.token)).to.deep.equal(second)
        expect(one.findBySecret(secret)?.client).to.deep.equal(second)
      })
    })

    const taken: Record<string, (first: Client, second: Client) => Client> = {
      token: (first, second) => ({ ...second, token: first.token }),
      'only secret': (first, second) => ({ ...second, secrets: first.secrets }),
      'second secret': (first, second) => ({
        ...second,
        secrets: [...second.secrets, ...first.secrets.slice(1)],
      }),
    }
    for (const [what, take] of Object.entries(taken)) {
      it(`refuses a client with the ${what} of another, and stores nothing of it`, async () => {
        const { client: first, secret } = newClient()
        const second = newClient()
        const rotating = {
          ...first,
          secrets: [...first.secrets, { digest: digestSecret(newSecretToken()) }],
        }
        await store.save(what === 'second secret' ? rotating : first)
        const before = store.list()
        for (const existing of [false, true]) {
          if (existing) await store.save(second.client)
          const error = await rejection(store.save(take(before[0] ?? first, second.client)))
          expect(error).to.be.instanceOf(Error)
          await both((one) => {
            expect(one.findBySecret(secret)?.client.id).to.equal(first.id)
            expect(one.findByToken(first.token)?.id).to.equal(first.id)
            expect(one.find(second.client.id)).to.deep.equal(existing ? second.client : undefined)
          })
        }
      })
    }

    it('gives a token to one of several clients that are saved with it at once', async () => {
      const token = newClientToken()
      const rivals = Array.from({ length: 10 }, () => ({ ...newClient().client, token }))
      const saved = await Promise.all(
        rivals.map((client) =>
          store.save(client).then(
            () => true,
            () => false,
          ),
        ),
      )
      expect(saved.filter(Boolean)).to.have.length(1)
      await both((one) => expect(one.list()).to.deep.equal([rivals[saved.indexOf(true)]]))
    })

    it('stores the last of several changes of one client', async () => {
      const { client } = newClient()
      const versions = Array.from({ length: 10 }, () => ({ ...client, token: newClientToken() }))
      await Promise.all(versions.map((version) => store.save(version)))
      await both((one) => expect(one.list()).to.deep.equal([versions.at(-1)]))
    })
  })
}

export function newClient(): { client: Client; secret: string } {
  const secret = newSecretToken()
  return {
    client: {
      id: newClientId(),
      token: newClientToken(),
      secrets: [{ digest: digestSecret(secret) }],
      createdAt: 1_800_000_000_000,
    },
    secret,
  }
}

function byId(clients: readonly Client[]): Client[] {
  return [...clients].sort((a, b) => (a.id < b.id ? -1 : 1))
}
