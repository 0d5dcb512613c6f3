import { expect } from 'chai'
import { VARIABLES } from '../../config/schema.ts'
import webhook from '../../plugins/events/webhook.ts'

const SECRET = secretOf(32)

/** A secret of so many bytes. */
function secretOf(bytes: number): string {
  return `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`
}

/** How the webhook plugin reads its options when it is asked for its targets. */
const webhookReads = (options: object) =>
  webhook.targets?.('archive.sent', { url: [], secret: [], events: [], allowAddresses: [], ...options })

interface Rule {
  /** Whether the variable may be so. */
  config: (text: string) => boolean
  /** What it goes to, which throws for what may not be. */
  behind: (text: string) => unknown
  right: readonly string[]
  wrong: readonly string[]
}

const RULES: Record<string, Rule> = {
  WEBHOOK_URL: {
    config: (text) => VARIABLES.WEBHOOK_URL.read(text) !== undefined,
    behind: (url) => webhookReads({ url, secret: SECRET }),
    right: ['https://a.example', 'http://10.0.0.1:8080/x,y?z#0', 'HTTPS://[::1]/', 'https:a.example'],
    wrong: [
      ...['a.example', '/hook', 'ftp://a.example', 'file:///hook', 'https://', 'https://a.example:70000'],
      ...['https://user@a.example', 'https://:word@a.example', 'javascript:0'],
    ],
  },
  WEBHOOK_SECRET: {
    config: (text) => VARIABLES.WEBHOOK_SECRET.read(text) !== undefined,
    behind: (secret) => webhookReads({ secret }),
    right: [secretOf(24), secretOf(25), secretOf(26), SECRET, secretOf(64), SECRET.replace('=', '')],
    wrong: [
      ...[secretOf(23), secretOf(65), SECRET.slice('whsec_'.length), SECRET.toUpperCase(), `${SECRET}==`],
      ...[`whsec_${SECRET}`, SECRET.replace('whsec_', 'whsec-'), SECRET.replaceAll('AQ', '-_'), 'whsec_'],
    ],
  },
  WEBHOOK_ALLOW_ADDRESSES: {
    config: (text) => VARIABLES.WEBHOOK_ALLOW_ADDRESSES.read(text) !== undefined,
    behind: (allowAddresses) => webhookReads({ allowAddresses }),
    right: ['10.0.0.0/8', '10.1.2.3/32', '0.0.0.0/0', 'fd00::/8', '::1/128', '::/0', '::ffff:10.0.0.0/104'],
    wrong: [
      ...['10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '::/129', '/8', 'fe80::%1/10', 'a/8', '10.0.0.0/-1'],
      ...['10.1/16', '010.0.0.0/8', '0x0a.0.0.0/8', '1/0', '10.1.2.3/8', 'fd00::1/8', '10.0.0.0/8/8'],
    ],
  },
}

describe('the checks in config and the equal checks in src', () => {
  for (const [name, { config, behind, right, wrong }] of Object.entries(RULES)) {
    for (const text of right)
      it(`accept ${name}=${text}`, () => {
        expect(config(text)).to.equal(true)
        expect(() => behind(text)).to.not.throw()
      })
    for (const text of wrong)
      it(`refuse ${name}=${text}`, () => {
        expect(config(text)).to.equal(false)
        expect(() => behind(text)).to.throw('expected')
      })
  }
})
