import { expect } from 'chai'
import { type Member, type MemberTable, NO_SESSIONS, type Passkey } from '../../src/core/members/member.ts'
import type { MemberStore } from '../../src/core/ports/members/member-store.ts'
import { rejection } from '../support/rejection.ts'

export interface OpenedMemberStore {
  /** Empty at first. */
  store: MemberStore
  /** Another store on the same data, as another process has it. */
  other: MemberStore
  close(): Promise<void>
}

export function aMember(name: string): Member {
  return {
    id: name,
    email: `${name}@example.com`,
    name,
    role: 'viewer',
    clients: ['first'],
    createdAt: 1,
    password: 'scrypt$1$1$1$salt$digest',
    invitedUntil: 2,
    sessions: { generation: 3, ended: [{ id: 'a session', until: 4 }] },
  }
}

export const A_PASSKEY: Passkey = {
  id: 'a passkey',
  credentialId: 'aWQ',
  publicKey: 'a2V5',
  origin: 'https://files.example.com',
  counter: 5,
  name: 'Phone',
  createdAt: 6,
  lastUsedAt: 7,
}

/** Adds a member at the end. */
export function adding(name: string) {
  return (present: MemberTable) => ({
    table: { ...present, members: [...present.members, aMember(name)] },
    result: present.members.length,
  })
}

/** What every {@link MemberStore} has to do, seen through the port alone. */
export function memberStoreContract(name: string, open: () => Promise<OpenedMemberStore>): void {
  describe(`${name}: the contract of MemberStore`, () => {
    let opened: OpenedMemberStore
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())
    const names = ({ members }: MemberTable) => members.map((one) => one.name)

    it('has no members at first', () => {
      expect(opened.store.table()).to.deep.equal({ members: [], operatorSessions: NO_SESSIONS })
    })

    it('returns what was stored, to another store after a refresh', async () => {
      const { store, other } = opened
      expect(await store.change(adding('ada'))).to.equal(0)
      const sessions = { generation: 1, ended: [] }
      await store.change((table) => ({ table: { ...table, operatorSessions: sessions }, result: undefined }))
      await other.refresh()
      for (const one of [store, other])
        expect(one.table()).to.deep.equal({ members: [aMember('ada')], operatorSessions: sessions })
    })

    it('returns the passkeys of a member who has no password', async () => {
      const { store, other } = opened
      const { password: _, ...ada } = aMember('ada')
      const member = { ...ada, passkeys: [A_PASSKEY, { ...A_PASSKEY, id: 'another' }] }
      await store.change((table) => ({ table: { ...table, members: [member] }, result: undefined }))
      await other.refresh()
      for (const one of [store, other]) expect(one.table().members).to.deep.equal([member])
    })

    it('changes nothing when the change throws', async () => {
      const { store, other } = opened
      await store.change(adding('ada'))
      const failure = new Error('no')
      const failing = store.change(() => {
        throw failure
      })
      expect(await rejection(failing)).to.equal(failure)
      await other.refresh()
      for (const one of [store, other]) expect(names(one.table())).to.deep.equal(['ada'])
    })

    it('applies simultaneous changes of several processes one after the other', async () => {
      const { store, other } = opened
      const all = ['a', 'b', 'c', 'd', 'e', 'f']
      const counts = await Promise.all(
        all.map((each, n) => (n % 2 === 0 ? store : other).change(adding(each))),
      )
      expect(counts.sort()).to.deep.equal([0, 1, 2, 3, 4, 5])
      await store.refresh()
      expect(names(store.table()).sort()).to.deep.equal(all)
    })
  })
}
