import { expect } from 'chai'
import { Problem } from '../../../src/core/problem.ts'
import { appKeys } from '../../../src/core/signing/derive-key.ts'
import { createAdminSessions } from '../../../src/service/admin/sessions.ts'

const HOURS_12_MS = 12 * 3_600_000

describe('sessions of the operator', () => {
  const clock = { now: 1_800_000_000_000 }
  const open = (password: string | undefined, secret = 'one'.padEnd(32, '!')) =>
    createAdminSessions({ password, key: appKeys(secret)('admin session'), now: () => clock.now })
  const refusal = (work: () => unknown) => {
    try {
      work()
    } catch (error) {
      if (error instanceof Problem) return { status: error.status, code: error.code }
      throw error
    }
    return undefined
  }
  const UNKNOWN = { status: 401, code: 'not_signed_in' }

  it('last for twelve hours', () => {
    const sessions = open('twelve letters')
    const { token, expiresAt } = sessions.signIn('twelve letters')
    expect(expiresAt).to.equal(clock.now + HOURS_12_MS)
    clock.now = expiresAt - 1
    sessions.check(`Bearer ${token}`)
    sessions.check(`bearer  ${token} `)
    clock.now = expiresAt
    expect(refusal(() => sessions.check(`Bearer ${token}`))).to.deep.equal(UNKNOWN)
  })

  it('are valid in all processes, until the password or APP_SECRET changes', () => {
    const { token } = open('twelve letters').signIn('twelve letters')
    open('twelve letters').check(`Bearer ${token}`)
    for (const other of [open('thirteen letters'), open('twelve letters', 'two'.padEnd(32, '!'))])
      expect(refusal(() => other.check(`Bearer ${token}`))).to.deep.equal(UNKNOWN)
  })

  it('reject a token with any changed character', () => {
    const sessions = open('twelve letters')
    const { token } = sessions.signIn('twelve letters')
    const bytes = Buffer.from(token.slice(4), 'base64url')
    for (let i = 0; i < bytes.length; i += 1) {
      const changed = Buffer.from(bytes)
      changed[i] = (changed[i] ?? 0) ^ 1
      const refused = refusal(() => sessions.check(`Bearer adm_${changed.toString('base64url')}`))
      expect(refused, `byte ${i}`).to.deep.equal(UNKNOWN)
    }
    for (const header of [
      undefined,
      '',
      'Bearer',
      token,
      `Basic ${token}`,
      'Bearer adm_',
      `Bearer ${token}AAAA`,
    ])
      expect(
        refusal(() => sessions.check(header)),
        String(header),
      ).to.deep.equal(UNKNOWN)
  })

  it('require the right password', () => {
    const sessions = open('twelve letters')
    for (const wrong of ['', 'twelve letter', 'twelve letters ', 'Twelve letters', 'x'.repeat(300)])
      expect(
        refusal(() => sessions.signIn(wrong)),
        wrong,
      ).to.deep.equal({ status: 401, code: 'wrong_password' })
    open('zwölf Umlaute').signIn('zwölf Umlaute')
  })

  it('are disabled without a password', () => {
    const off = { status: 403, code: 'sign_in_off' }
    expect(refusal(() => open(undefined).signIn('undefined'))).to.deep.equal(off)
    expect(refusal(() => open(undefined).check(undefined))).to.deep.equal(off)
  })
})
