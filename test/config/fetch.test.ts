import { expect } from 'chai'
import { ConfigError, loadConfig } from '../../config/load.ts'

describe('the variables for remote files', () => {
  it('are parsed as lists and durations, with defaults', () => {
    const config = loadConfig({ FETCH_PORTS: '8080, 8443', FETCH_ALLOW_ADDRESSES: '10.0.0.0/8 fd00::/8' })
    expect(config.FETCH_PORTS).to.deep.equal(['8080', '8443'])
    expect(config.FETCH_ALLOW_ADDRESSES).to.deep.equal(['10.0.0.0/8', 'fd00::/8'])
    expect(config).to.include({ FETCH_TIMEOUT_SECONDS: 30, FETCH_KEEP_TIMEOUT_SECONDS: 100 })
    // Else a client that waits for a file to be stored would be closed first.
    expect(config.FETCH_KEEP_TIMEOUT_SECONDS).to.be.below(config.IDLE_TIMEOUT_SECONDS)
  })

  for (const [name, value] of [
    ['FETCH_PORTS', '0'],
    ['FETCH_PORTS', '080'],
    ['FETCH_PORTS', '65536'],
    ['FETCH_PORTS', '80;81'],
    ['FETCH_PORTS', '8000-9000'],
    ['FETCH_ALLOW_ADDRESSES', '10.0.0.1'],
    ['FETCH_ALLOW_ADDRESSES', 'localhost'],
  ] as const) {
    it(`refuse ${name}=${value}`, () => {
      expect(() => loadConfig({ [name]: value }))
        .to.throw(ConfigError)
        .with.property('message')
        .that.matches(new RegExp(`^${name}: expected `))
    })
  }
})
