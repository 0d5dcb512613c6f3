import { expect } from 'chai'
import { withEnvironment } from '../../config/chain.ts'
import { ConfigError, loadConfig } from '../../config/load.ts'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(24, 2).toString('base64')}`
const CHAIN = { order: [], disabled: [], options: {}, ignoredParams: [], onLimit: 'refuse' as const }

describe('the variables of webhooks', () => {
  it('are parsed as lists', () => {
    const config = loadConfig({
      WEBHOOK_URL: ' https://a.example/x,y  http://10.0.0.1:8080/ ',
      WEBHOOK_SECRET: `${SECRET}\n${OTHER}`,
      WEBHOOK_EVENTS: 'original.stored, original.deleted archive.sent',
      WEBHOOK_ALLOW_ADDRESSES: '10.0.0.0/8,fd00::/8',
    })
    expect(config.WEBHOOK_URL).to.deep.equal(['https://a.example/x,y', 'http://10.0.0.1:8080/'])
    expect(config.WEBHOOK_SECRET).to.deep.equal([SECRET, OTHER])
    expect(config.WEBHOOK_EVENTS).to.deep.equal(['original.stored', 'original.deleted', 'archive.sent'])
    expect(config.WEBHOOK_ALLOW_ADDRESSES).to.deep.equal(['10.0.0.0/8', 'fd00::/8'])
  })

  it('of the log have bounds', () => {
    const { WEBHOOK_LOG_ENTRIES, WEBHOOK_LOG_SECONDS } = loadConfig({ WEBHOOK_LOG_ENTRIES: '0' })
    expect([WEBHOOK_LOG_ENTRIES, WEBHOOK_LOG_SECONDS]).to.deep.equal([0, 604_800])
    for (const environment of [{ WEBHOOK_LOG_ENTRIES: '100001' }, { WEBHOOK_LOG_SECONDS: '59' }])
      expect(() => loadConfig(environment)).to.throw(/^WEBHOOK_LOG_/)
  })

  it('are unset by default', () => {
    for (const environment of [{}, { WEBHOOK_URL: '', WEBHOOK_SECRET: '' }])
      expect(Object.keys(loadConfig(environment)).filter((name) => /^WEBHOOK_(?!LOG|RATE)/.test(name))).to.be
        .empty
  })

  for (const [name, value] of [
    ['WEBHOOK_URL', ' '],
    ['WEBHOOK_URL', 'example.com/hook'],
    ['WEBHOOK_URL', 'https://a.example, https://b.example'.replace(', ', ' , ')],
    ['WEBHOOK_URL', 'ftp://token.example'],
    ['WEBHOOK_URL', 'https://user:token@a.example'],
    ['WEBHOOK_SECRET', 'token'],
    ['WEBHOOK_SECRET', 'whsec_token'],
    ['WEBHOOK_SECRET', `${SECRET},${OTHER}`],
    ['WEBHOOK_SECRET', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['WEBHOOK_EVENTS', 'original.stored;original.deleted'],
    ['WEBHOOK_ALLOW_ADDRESSES', '10.0.0.1'],
    ['WEBHOOK_ALLOW_ADDRESSES', '10.0.0.0/33'],
    ['WEBHOOK_ALLOW_ADDRESSES', 'fe80::%1/10'],
    ['WEBHOOK_ALLOW_ADDRESSES', '10.1/16'],
    ['WEBHOOK_ALLOW_ADDRESSES', '010.0.0.0/8'],
    ['WEBHOOK_ALLOW_ADDRESSES', '10.1.2.3/8'],
    ['WEBHOOK_ALLOW_ADDRESSES', 'fd00::1/8'],
  ] as const) {
    it(`refuse ${name}=${value.slice(0, 50)}, and hide secrets`, () => {
      expect(() => loadConfig({ [name]: value }))
        .to.throw(ConfigError)
        .and.to.satisfy(
          ({ message }: Error) => message.startsWith(`${name}: expected `) && !message.includes('token'),
        )
    })
  }

  it('override chain.json, each on its own', () => {
    const webhook = { url: 'https://file.example', events: ['archive.sent'] }
    const chain = { ...CHAIN, options: { webhook, other: { a: 1 } } }
    const config = loadConfig({ WEBHOOK_URL: 'https://env.example', WEBHOOK_SECRET: SECRET })
    expect(withEnvironment(chain, config).options).to.deep.equal({
      webhook: { url: ['https://env.example'], secret: [SECRET], events: ['archive.sent'] },
      other: { a: 1 },
    })
    expect(withEnvironment(chain, loadConfig({}))).to.deep.equal(chain)
    expect(withEnvironment(CHAIN, loadConfig({}))).to.deep.equal(CHAIN)
  })
})
