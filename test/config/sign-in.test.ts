import { expect } from 'chai'
import { type Config, type ConfigError, loadConfig } from '../../config/load.ts'

const COMPLETE = {
  OIDC_ISSUER: 'https://id.example.com/realms/acme',
  OIDC_CLIENT_ID: 'console',
  OIDC_ROLES: 'guests=viewer',
}

/** The names in the lines of the error; empty when the values are accepted. */
function refused(environment: Record<string, string>): string[] {
  try {
    loadConfig(environment)
    return []
  } catch (error) {
    return (error as ConfigError).message.split('\n').map((line) => line.split(':')[0] ?? '')
  }
}

describe('the configuration of an organisation', () => {
  it('reads roles, clients, scopes, domains and ranges', () => {
    for (const [name, text, value] of [
      ['OIDC_ISSUER', 'https://ID.example.com', 'https://id.example.com/'],
      ['OIDC_ISSUER', 'http://localhost:8080/realms/a', 'http://localhost:8080/realms/a'],
      ['OIDC_SCOPES', ' openid  email groups ', 'openid email groups'],
      ['OIDC_ROLES', 'Sluice admins = owner, cn=editors,guests=viewer', undefined],
      [
        'OIDC_ROLES',
        'Sluice admins = owner, cn=design=editor,guests=viewer',
        [
          { value: 'Sluice admins', role: 'owner' },
          { value: 'cn=design', role: 'editor' },
          { value: 'guests', role: 'viewer' },
        ],
      ],
      ['OIDC_CLIENTS', 'first, 2f7Kd9QmXzA', ['first', '2f7Kd9QmXzA']],
      ['OIDC_EMAIL_DOMAINS', 'example.com, example.org', ['example.com', 'example.org']],
      ['CONSOLE_ALLOW', '203.0.113.0/24 2001:db8::/32', ['203.0.113.0/24', '2001:db8::/32']],
      ['SECRETS_ALLOW', '192.0.2.1/32', ['192.0.2.1/32']],
    ] as const) {
      const environment = name.startsWith('OIDC_') ? { ...COMPLETE, [name]: text } : { [name]: text }
      if (value === undefined) expect(refused(environment), text).to.deep.equal([name])
      else expect(loadConfig(environment)[name as keyof Config], text).to.deep.equal(value)
    }
  })

  it('refuses an issuer that is not safe or not one, and unknown roles, domains and ranges', () => {
    for (const [name, ...texts] of [
      [
        'OIDC_ISSUER',
        'http://id.example.com',
        'id.example.com',
        'https://id.example.com?a',
        'https://a:b@id.example',
      ],
      ['OIDC_SCOPES', 'email', 'openid "x"'],
      ['OIDC_ROLES', 'admins', 'admins=admin', '=owner', ','],
      ['OIDC_CLIENTS', ' ', 'a/b'],
      ['OIDC_EMAIL_DOMAINS', '@example.com', 'Example.com', 'example'],
      ['OIDC_UNVERIFIED_EMAIL', 'yes'],
      ['OIDC_SESSION_HOURS', '0', '169'],
      ['OIDC_LABEL', 'x'.repeat(61), 'a\nb'],
      ['CONSOLE_ALLOW', '203.0.113.7', '203.0.113.7/24', 'office'],
      ['SECRETS_ALLOW', '10.1/16', '::ffff:203.0.113.0/120'],
    ] as const) {
      for (const text of texts)
        expect(refused({ ...COMPLETE, [name]: text }), `${name}=${text}`).to.deep.equal([name])
    }
  })

  it('requires domains of addresses with a role for each account of the issuer', () => {
    const open = { ...COMPLETE, OIDC_ROLES: 'admins=owner, * = viewer' }
    expect(refused(open)).to.deep.equal(['OIDC_EMAIL_DOMAINS'])
    expect(refused({ ...open, OIDC_EMAIL_DOMAINS: 'example.com' })).to.deep.equal([])
  })

  it('requires client and roles with an issuer, and an issuer with these', () => {
    const { OIDC_ISSUER, ...others } = COMPLETE
    expect(refused({ OIDC_ISSUER })).to.deep.equal(['OIDC_CLIENT_ID', 'OIDC_ROLES'])
    expect(refused({ ...others, OIDC_CLIENT_SECRET: 'a secret of it'.replaceAll(' ', '-') })).to.deep.equal([
      'OIDC_CLIENT_ID',
      'OIDC_CLIENT_SECRET',
      'OIDC_ROLES',
    ])
  })
})
