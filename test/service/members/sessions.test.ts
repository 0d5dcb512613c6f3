import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { type MemberTable, NO_SESSIONS } from '../../../src/core/members/member.ts'
import type { MemberStore } from '../../../src/core/ports/members/member-store.ts'
import { createSessions } from '../../../src/service/members/sessions.ts'
import { aMember } from '../../contracts/member-store.ts'

const DAY_MS = 86_400_000
const ADA = { ...aMember('ada'), sessions: NO_SESSIONS }

/** Members in memory. `elsewhere` is what a refresh reads. */
function memoryStore() {
  let known: MemberTable = { members: [ADA], operatorSessions: NO_SESSIONS }
  const own = { elsewhere: known, refreshes: 0 }
  const store: MemberStore = {
    table: () => known,
    async change(make) {
      const { table, result } = make(known)
      known = table
      own.elsewhere = table
      return result
    },
    async refresh() {
      own.refreshes += 1
      known = own.elsewhere
    },
  }
  return Object.assign(own, { store })
}

function opened() {
  const members = memoryStore()
  const clock = { now: 1_800_000_000_000 }
  const options = { store: members.store, key: randomBytes(32), now: () => clock.now }
  const sessions = createSessions({ ...options, operatorPassword: 'a password' })
  return { sessions, members, clock, options }
}

describe('sessions of the console', () => {
  it('are valid for seven days, to the millisecond', () => {
    const { sessions, clock } = opened()
    const { token, expiresAt } = sessions.begin('ada')
    expect(expiresAt).to.equal(clock.now + 7 * DAY_MS)
    clock.now = expiresAt - 1
    expect(sessions.find(token)).to.nested.include({ 'member.name': 'ada', expiresAt })
    clock.now = expiresAt
    expect(sessions.find(token)).to.equal(undefined)
  })

  it('of a member of an identity provider last twelve hours, and are not renewed', () => {
    const { members, clock, options } = opened()
    const identity = { issuer: 'https://id.example.com/', subject: 'ada' }
    const { password: _, ...others } = ADA
    void members.store.change((table) => ({
      table: { ...table, members: [{ ...others, identity }] },
      result: undefined,
    }))
    const sessions = createSessions({ ...options, operatorPassword: undefined, issuer: identity.issuer })
    const session = sessions.begin('ada')
    expect(session.expiresAt).to.equal(clock.now + DAY_MS / 2)
    clock.now = session.expiresAt - 1
    expect(sessions.find(session.token)).to.nested.include({ 'member.isOfOrganisation': true })
    expect(sessions.renewed(session)).to.equal(undefined)
  })

  it('are renewed once a day, for at most thirty days', async () => {
    const { sessions, clock } = opened()
    const begunAt = clock.now
    let session = sessions.begin('ada')
    const first = session
    clock.now += DAY_MS - 1
    expect(sessions.renewed(session)).to.equal(undefined)
    for (let day = 1; day <= 40; day += 1) {
      clock.now = begunAt + day * DAY_MS
      session = sessions.renewed(session) ?? session
    }
    expect(session).to.include({ id: first.id, begunAt, expiresAt: begunAt + 30 * DAY_MS })
    clock.now = begunAt + 29 * DAY_MS
    await sessions.end(first)
    expect(await sessions.find(session.token)).to.equal(undefined)
  })

  it('end one by one, and all of a member at once', async () => {
    const { sessions, members, clock } = opened()
    const [one, other, operator] = [sessions.begin('ada'), sessions.begin('ada'), sessions.begin('operator')]
    await sessions.end(one)
    expect(await sessions.find(one.token)).to.equal(undefined)
    expect(sessions.find(other.token)).to.include({ id: other.id })
    // An ended session is forgotten when it has expired anyway.
    clock.now += 7 * DAY_MS
    await sessions.end(sessions.begin('ada'))
    expect(members.store.table().members[0]?.sessions.ended).to.have.length(1)
    const again = sessions.begin('ada')
    await sessions.endAll('ada')
    expect(await sessions.find(again.token)).to.equal(undefined)
    await sessions.endAll('operator')
    clock.now -= 7 * DAY_MS
    expect(await sessions.find(operator.token)).to.equal(undefined)
  })

  it('end all together when many were ended, so that the list stays short', async () => {
    const { sessions, members } = opened()
    const first = sessions.begin('ada')
    for (let n = 0; n <= 100; n += 1) await sessions.end(sessions.begin('ada'))
    expect(members.store.table().members[0]?.sessions).to.deep.equal({ generation: 1, ended: [] })
    expect(await sessions.find(first.token)).to.equal(undefined)
  })

  it('of another process are known at once, and only a signed token causes a refresh', async () => {
    const { sessions, members, options } = opened()
    const bea = { ...ADA, id: 'bea', name: 'bea' }
    const there = memoryStore()
    await there.store.change(({ operatorSessions }) => ({
      table: { members: [ADA, bea], operatorSessions },
      result: undefined,
    }))
    members.elsewhere = there.store.table()
    const { token } = createSessions({
      ...options,
      store: there.store,
      operatorPassword: undefined,
    }).begin('bea')
    const changed = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`
    expect(sessions.find(changed)).to.equal(undefined)
    expect(members.refreshes).to.equal(0)
    expect(await sessions.find(token)).to.nested.include({ 'member.name': 'bea' })
    expect(members.refreshes).to.equal(1)
    expect(sessions.find(token)).to.nested.include({ 'member.name': 'bea' })
  })

  it('end with another password, another ADMIN_PASSWORD and another key', async () => {
    const { sessions, members, options } = opened()
    const [ada, operator] = [sessions.begin('ada'), sessions.begin('operator')]
    for (const changed of [
      createSessions({ ...options, operatorPassword: 'another password' }),
      createSessions({ ...options, operatorPassword: undefined }),
    ]) {
      expect(await changed.find(operator.token)).to.equal(undefined)
      expect(changed.find(ada.token)).to.nested.include({ 'member.name': 'ada' })
    }
    const otherKey = createSessions({ ...options, key: randomBytes(32), operatorPassword: 'a password' })
    expect(otherKey.find(ada.token)).to.equal(undefined)
    await members.store.change((table) => ({
      table: { ...table, members: [{ ...ADA, password: 'another digest' }] },
      result: undefined,
    }))
    expect(await sessions.find(ada.token)).to.equal(undefined)
  })
})
